/** A short soak. `npm run soak -- --minutes N` runs a long one. */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { describeIn, ENGINES } from '../browser/harness/engines.js';
import { repetitions } from '../browser/harness/repetitions.js';
import { check } from './check.js';
import { EventLog } from './event-log.js';
import { soak } from './soak.js';

const SEED = 20_261_127;

const SECONDS = repetitions(20, 180);

describeIn([ENGINES.chromium], 'A soak', (engine) => {
    it(`everything that was acknowledged is there after ${SECONDS} s of crashes and faults`, async (t) => {
        const log = new EventLog();
        await soak({ engine, duration_ms: 1000 * SECONDS, seed: SEED, log });
        const { violations, figures } = check(log.events);
        assert.deepEqual(violations, []);
        const { operations, steps } = /** @type {Record<string, Record<string, number>>} */ (figures);
        assert.ok(Object.keys(steps ?? {}).length > 2, 'several kinds of crashes and faults have happened');
        for (const kind of ['count', 'lock', 'enqueue', 'once', 'sequence'])
            assert.ok((operations?.[kind] ?? 0) > 0, `an operation of the kind ${kind} has succeeded`);
        t.diagnostic(JSON.stringify(figures));
    });
});
