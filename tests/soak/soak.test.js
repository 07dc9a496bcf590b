/** A short soak. `npm run soak -- --minutes N` runs a long one. */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { describeIn, ENGINES } from '../browser/harness/engines.js';
import { repetitions } from '../browser/harness/repetitions.js';
import { check } from './check.js';
import { soak } from './soak.js';

const SEED = 20_261_127;

const SECONDS = repetitions(20, 180);

describeIn([ENGINES.chromium], 'A soak', (engine) => {
    it(`everything that was acknowledged is there after ${SECONDS} s of crashes and faults`, async (t) => {
        const log = await soak({ engine, duration_ms: 1000 * SECONDS, seed: SEED });
        const { violations, figures } = check(log.events);
        assert.deepEqual(violations, []);
        t.diagnostic(JSON.stringify(figures));
    });
});
