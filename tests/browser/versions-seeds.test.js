/**
 * A short soak by seeds, whose tabs are of two packages: they use every feature, while tabs of either package are closed,
 * reloaded and killed at seeded moments. Nothing that either version has acknowledged is lost, and nothing is granted,
 * numbered or settled twice.
 */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { check } from '../soak/check.js';
import { EventLog } from '../soak/event-log.js';
import { besideEarlier, besideLater } from '../soak/packages.js';
import { soak } from '../soak/soak.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { repetitions } from './harness/repetitions.js';

/** @typedef {import('../soak/packages.js').Packages} Packages */

const SEEDS = Array.from({ length: repetitions(2, 20) }, (_, at) => at + 1);

/** What happens in a run. */
const HOW = { tabs: 4, steps: 8, wait_ms: 800, can: ['close', 'crash', 'reload'] };

/** The features that tabs of each package must have used in the runs of all seeds, or been refused. */
const FEATURES = ['count', 'lock', 'sequence', 'budget', 'enqueue'];

/** @param {import('./harness/engines.js').Engine} engine @param {Packages} packages */
function runSeeds(engine, packages) {
    /** What succeeded or was refused, as `<address> <kind>`. check() knows which pages may be refused. @type {Set<string>} */
    const used = new Set();

    for (const seed of SEEDS)
        it(`everything acknowledged is there, once, after tabs were closed, reloaded and killed (seed ${seed})`, async () => {
            const log = new EventLog();
            await soak({ engine, seed, log, packages, ...HOW });
            const addresses = new Map(
                log.events.flatMap(({ type, page, address }) =>
                    type === 'package' ? [[page, address]] : [],
                ),
            );
            for (const { type, page, kind, ok, code } of log.events)
                if (type === 'end' && (ok || code === 'version-mismatch'))
                    used.add(`${addresses.get(page)} ${kind}`);
            assert.deepEqual(check(log.events).violations, []);
        });

    it('tabs of both packages have used every feature', () => {
        for (const address of packages.addresses)
            for (const kind of FEATURES) assert.ok(used.has(`${address} ${kind}`), `${address} ${kind}`);
    });
}

describeIn([ENGINES.chromium], 'Tabs of version 0.1.0 and of this version, by seeds', (engine) =>
    runSeeds(engine, besideEarlier()),
);

const later = besideLater();
if (later)
    describeIn([ENGINES.chromium], 'Tabs of this version and of a later one, by seeds', (engine) =>
        runSeeds(engine, later),
    );
