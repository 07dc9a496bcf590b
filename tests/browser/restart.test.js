/**
 * The whole browser is killed (SIGKILL) while its tabs count with `strict` durability, and is started again on the same
 * profile. No acknowledged increment is lost. Chromium sometimes discards the whole database at such a start, and the
 * test accepts that only if the package has reported it.
 */

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';

import { call } from './harness/commands.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { checkCounter } from './harness/jepsen-counter.js';
import { temporaryFolder } from './harness/processes.js';
import { serveSite } from './harness/site.js';
import { delay, within } from './harness/waiting.js';
import { seededRandom } from './page/seeded-random.js';

const SEED = 20_260_102;
const TABS = 2;
const ENDLESS = 1_000_000;
const OPTIONS = /** @type {const} */ ({ durability: 'strict' });

/** @type {{ engine: import('./harness/engines.js').Engine, kills: number }[]} */
const PLANS = [
    { engine: ENGINES.chromium, kills: 5 },
    { engine: ENGINES.firefox, kills: 2 },
];

for (const { engine, kills } of PLANS) {
    describeIn([engine], 'A browser killed while its tabs count', () => {
        /** @type {Awaited<ReturnType<typeof serveSite>>} */
        let site;
        /** @type {Awaited<ReturnType<typeof temporaryFolder>>} */
        let profile;
        /** @type {import('./harness/engines.js').Browser | undefined} */
        let browser;
        before(async () => {
            site = await serveSite();
            profile = await temporaryFolder();
        });
        after(async () => {
            await browser?.close();
            await site.close();
            await profile.remove();
        });

        /** @param {string} namespace */
        const openIn = async (namespace) => {
            browser ??= await engine.launch({ profile: profile.path });
            const tab = await browser.openTab(site.page);
            await call(tab, 'open', { namespace });
            return tab;
        };

        it(`no acknowledged strict increment is lost without a report in ${kills} kills`, async (t) => {
            const random = seededRandom(SEED);
            const namespace = 'restart';
            let name = 'immortal-0';
            for (let kill = 1; kill <= kills; kill++) {
                for (let i = 0; i < TABS; i++) {
                    const work = { name, options: OPTIONS, seed: kill * TABS + i, adds: 1 + random(30) };
                    await call(await openIn(namespace), 'startWork', { ...work, batches: ENDLESS });
                }
                // The browser is killed at an acknowledgement, or at any time after it.
                let left = 3 + random(12);
                const moment = site.history.next(name, ({ type }) => type === 'acknowledge' && --left === 0);
                await within(moment, 'work of the tabs');
                if (random(2) === 0) await delay(random(10));
                await browser?.kill();
                await browser?.close();
                browser = undefined;

                const tab = await openIn(namespace);
                const value = await call(tab, 'read', name, OPTIONS);
                const lost = (await call(tab, 'events')).filter(({ type }) => type === 'storelost');
                const { valid, errors, acknowledged } = checkCounter(site.history.of(name));
                const rows = await call(tab, 'rows', namespace, name);
                await tab.close();
                if (!valid) {
                    // If the browser has discarded the store, increments may be lost, but none may count twice.
                    const doubled = errors.filter(({ value, upper }) => value > upper);
                    assert.deepEqual(doubled, [], `kill ${kill}`);
                    assert.ok(lost.length > 0, `kill ${kill}, in silence: ${JSON.stringify(errors)}`);
                    t.diagnostic(`kill ${kill}: ${value} of ${acknowledged}, ${JSON.stringify(lost)}`);
                    name = `immortal-${kill}`;
                    continue;
                }
                assert.ok(rows.length <= TABS, `slots were not adopted: ${rows}`);
            }
            const { reads, attempted, acknowledged } = checkCounter(site.history.of(name));
            t.diagnostic(
                `${kills} kills: last read ${reads.at(-1)?.value}, ` +
                    `${acknowledged} acknowledged, ${attempted} attempted`,
            );
        });
    });
}
