/**
 * Renderers killed for real (SIGKILL) in the middle of their work, at seeded moments. Whatever a tab
 * had flushed is counted, nothing is counted twice, its slot is used again, and nobody waits for it.
 */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { call } from './harness/commands.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { useBrowser } from './harness/fixture.js';
import { assertCounter } from './harness/jepsen-counter.js';
import { delay, until } from './harness/waiting.js';
import { seeded } from './page/seeded.js';

/** @typedef {import('./harness/tab.js').Tab} Tab */

const SEED = 20_260_101;

/** A tab that lives throughout, and two that are killed in turn. */
const TABS_MAX = 3;

const ENDLESS = 1_000_000;

/** @type {{ engine: import('./harness/engines.js').Engine, deaths: number }[]} */
const PLANS = [
    { engine: ENGINES.chromium, deaths: 50 },
    { engine: ENGINES.firefox, deaths: 6 },
];

for (const { engine, deaths } of PLANS) {
    describeIn([engine], 'Tabs killed while they count', () => {
        const browser = useBrowser(engine);

        it(`${deaths} deaths: nothing flushed is lost, nothing counted twice`, async (t) => {
            const namespace = browser.namespace();
            const name = 'mortal';
            const random = seeded(SEED);
            const { history } = browser.site;

            /** @param {number} seed */
            const openVictim = async (seed) => {
                const victim = await browser.openIn({ namespace });
                await victim.pid();
                const least = seed % 2 === 0 ? 1 : -2;
                const work = { name, seed, batches: ENDLESS, adds: 1 + random(40), least, most: 4 };
                await call(victim, 'startWork', work);
                return victim;
            };
            /** Somewhere within the next few entries of the history, and not just at one of them. */
            const randomMoment = async () => {
                const entries = history.of(name).length + 1 + random(12);
                await until(() => history.of(name).length >= entries, 'work of the victims');
                await delay(random(8));
            };

            const survivor = await browser.openIn({ namespace });
            /** @type {Tab[]} */
            const victims = [await openVictim(1), await openVictim(2)];
            for (let death = 1; death <= deaths; death++) {
                await randomMoment();
                await victims.shift()?.kill();
                await call(survivor, 'work', { name, seed: death, batches: 1, adds: 3 });
                await call(survivor, 'read', name);
                victims.push(await openVictim(death + 2));
            }
            for (const victim of victims) await victim.kill();
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
