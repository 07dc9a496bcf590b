/**
 * Renderers are killed by SIGKILL in the middle of their work, at seeded moments. Every flushed increment of a killed
 * tab is counted, none is counted twice, its slot is used again, and no other tab waits for it.
 */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { call } from './harness/commands.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { useBrowser } from './harness/fixture.js';
import { assertCounter } from './harness/jepsen-counter.js';
import { repetitions } from './harness/repetitions.js';
import { delay, within } from './harness/waiting.js';
import { seededRandom } from './page/seeded-random.js';

const SEED = 20_260_101;

/** The most tabs that are open at once: one that survives, and two that are killed. */
const TABS_MAX = 3;

const ENDLESS = 1_000_000;

/** @type {{ engine: import('./harness/engines.js').Engine, deaths: number }[]} */
const PLANS = [
    { engine: ENGINES.chromium, deaths: repetitions(12, 50) },
    { engine: ENGINES.firefox, deaths: 6 },
];

for (const { engine, deaths } of PLANS) {
    describeIn([engine], 'Tabs killed while they count', () => {
        const browser = useBrowser(engine);

        it(`no flushed increment of ${deaths} killed tabs is lost, and none is counted twice`, async (t) => {
            const namespace = browser.namespace();
            const name = 'mortal';
            const random = seededRandom(SEED);
            const { history } = browser.site;

            /** @param {number} seed */
            const openVictim = async (seed) => {
                const tab = await browser.openIn({ namespace });
                await tab.pid();
                const least = seed % 2 === 0 ? 1 : -2;
                const work = { name, seed, batches: ENDLESS, adds: 1 + random(40), least, most: 4 };
                return { tab, seed, start: () => call(tab, 'startWork', work) };
            };
            /** @param {number} seed @param {number} count */
            const acknowledgement = (seed, count) =>
                history.next(name, (event) => {
                    const counts = event.type === 'acknowledge' && event.by === seed;
                    return counts && --count === 0;
                });

            const survivor = await browser.openIn({ namespace });
            let elder = await openVictim(0);
            await elder.start();
            for (let death = 1; death <= deaths; death++) {
                const newborn = await openVictim(death);
                // A victim dies at its first acknowledgement, when it has only just taken its slot (0), at a later
                // acknowledgement (1), or at any time (2).
                const kind = random(3);
                const victim = kind === 0 ? newborn : elder;
                const moment = acknowledgement(victim.seed, kind === 0 ? 1 : 1 + random(5));
                await newborn.start();
                await within(moment, 'work of the victim');
                if (kind === 2) await delay(random(12));
                await victim.tab.kill();
                if (victim === elder) elder = newborn;
                await call(survivor, 'work', { name, seed: -death, batches: 1, adds: 3 });
                await call(survivor, 'read', name);
            }
            await elder.tab.kill();
            const total = await call(survivor, 'read', name);

            const rows = await call(survivor, 'rows', namespace, name);
            await survivor.close();
            const heir = await browser.openIn({ namespace });
            assert.equal(await call(heir, 'read', name), total);
            const { reads, attempted, acknowledged } = assertCounter(history.of(name));
            assert.ok(rows.length <= TABS_MAX, `slots were not adopted: ${rows}`);
            assert.ok(reads.length > deaths);
            t.diagnostic(
                `${deaths} deaths, ${reads.length} reads, total ${total}: ` +
                    `${acknowledged} acknowledged, ${attempted} attempted; rows ${rows.length}`,
            );
        });
    });
}
