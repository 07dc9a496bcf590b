/** The demo in three tabs: a race, threads, and the demo without isolation. */

import assert from 'node:assert/strict';
import { before, it } from 'node:test';

import { ChromiumTab } from './harness/chromium.js';
import { click, enabled, shoot, text } from './harness/dom.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { useDemo } from './harness/fixture.js';
import { until } from './harness/waiting.js';

/** @typedef {import('./harness/tab.js').Tab} Tab */

/** @param {Tab} tab @param {string} strategy */
const outcome = (tab, strategy) =>
    tab.evaluate((name) => {
        const card = document.querySelector(`.card[data-strategy="${name}"]`);
        const number = (/** @type {string} */ role) =>
            Number(card?.querySelector(`[data-role="${role}"]`)?.getAttribute('value'));
        return {
            verdict: card?.getAttribute('data-verdict'),
            attempted: number('attempted'),
            counted: number('counted'),
            lost: number('lost'),
        };
    }, strategy);

/** How long each strategy runs; the shortest that the page offers is a second. */
const EACH_ms = 250;

/** @param {Tab} tab */
async function race(tab) {
    await until(() => enabled(tab, '#start'), 'the button of the race');
    await tab.evaluate((duration_ms) => {
        const select = /** @type {any} */ (document.querySelector('#duration'));
        select.options[0].value = String(duration_ms);
        select.selectedIndex = 0;
    }, EACH_ms);
    await click(tab, '#start');
    await until(async () => (await outcome(tab, 'replicated')).verdict !== 'none', 'a verdict', 60_000);
    await until(() => enabled(tab, '#start'), 'the end of the race', 180_000);
}

/** Gives the page what Tab.pid() calls to find its process. @param {Tab} tab */
const provideIdleWorker = (tab) =>
    tab.evaluate(() => {
        /** @type {Worker | undefined} */
        let idle;
        /** @type {any} */ (globalThis).page = {
            startIdleWorker: () => void (idle = new Worker('crew-worker.js', { type: 'module' })),
            stopIdleWorker: () => idle?.terminate(),
        };
    });

for (const isolated of [true, false]) {
    const claim = isolated ? 'The demo' : 'The demo without isolation';
    describeIn([ENGINES.chromium], claim, (engine) => {
        const demo = useDemo(engine, { isolated });
        /** @type {Tab[]} */
        const tabs = [];
        /** @type {string[][]} */
        const consoles = [];
        before(async () => {
            for (let i = 0; i < 3; i++) {
                const tab = await demo.openTab();
                tabs.push(tab);
                if (tab instanceof ChromiumTab) consoles.push(await tab.console());
            }
        });
        const first = () => tabs[0] ?? assert.fail('no tab');

        it('the demo counts three open tabs', async () => {
            for (const tab of tabs) {
                await until(async () => (await text(tab, '#tabs-count')) === '3 tabs open', '3 tabs');
            }
        });

        it('the replicated counter loses nothing in a race', async (t) => {
            await race(first());
            for (const tab of tabs) {
                const { verdict, attempted, counted, lost } = await outcome(tab, 'replicated');
                assert.deepEqual({ verdict, lost }, { verdict: 'exact', lost: 0 });
                assert.ok(attempted > 0);
                assert.equal(counted, attempted);
            }
            assert.equal((await outcome(first(), 'transactional')).lost, 0);
            for (const name of ['optimistic', 'deltas', 'batched', 'log']) {
                const { lost, counted } = await outcome(first(), name);
                assert.deepEqual({ name, lost }, { name, lost: 0 });
                assert.ok(counted > 0);
            }
            for (const name of ['replicated', 'naive', 'locked', 'lamport', 'eventual', 'transactional']) {
                t.diagnostic(`${name}: ${JSON.stringify(await outcome(first(), name))}`);
            }
            const prefix = isolated ? 'demo' : 'demo-plain';
            await shoot(first(), `${prefix}-light`);
            await shoot(first(), `${prefix}-dark`, { dark: true });
            await shoot(first(), `${prefix}-phone`, { width: 390, height: 844, mobile: true });
        });

        if (isolated) {
            it('the shared counters of the threads are exact', async () => {
                const button = '#threads [data-run="workers"][data-amount="1"]';
                await until(() => enabled(first(), button), 'the button of the threads');
                await click(first(), button);
                await until(() => enabled(first(), button), 'the end of the threads');
                const rows = await first().evaluate(() =>
                    [...document.querySelectorAll('#threads tbody tr')].map((row) => [
                        row.getAttribute('data-kind'),
                        row.getAttribute('data-verdict'),
                    ]),
                );
                const verdicts = Object.fromEntries(rows);
                for (const kind of ['atomic', 'mutexed', 'striped']) {
                    assert.equal(verdicts[kind], 'exact', kind);
                }
                await shoot(first(), 'demo-threads');
            });

            it('the workers of three tabs count exactly, though one of them and one tab are killed', async () => {
                const figure = (/** @type {string} */ role) =>
                    first().evaluate(
                        (name) =>
                            Number(
                                document.querySelector(`#crew [data-role="${name}"]`)?.getAttribute('value'),
                            ),
                        role,
                    );
                await until(() => enabled(first(), '#crew-kill'), 'the button of the workers');
                await click(first(), '#crew-kill');
                await until(() => enabled(first(), '#crew-kill'), 'the end of the workers', 60_000);
                assert.match(await text(first(), '#crew-verdict'), /Nothing is lost.*a worker was killed/);
                const [added, counted] = [await figure('added'), await figure('counted')];
                assert.ok(added > 11 * 50_000 && (counted === added || counted === added + 1));
                await shoot(first(), 'demo-crew');
                const victim = tabs.pop() ?? assert.fail('no tab');
                await provideIdleWorker(victim);
                await victim.pid();
                await click(first(), '#crew-start');
                await victim.kill();
                await until(() => enabled(first(), '#crew-start'), 'the end of the workers', 60_000);
                assert.match(await text(first(), '#crew-verdict'), /Nothing is lost/);
            });
        } else {
            it('the demo explains what the threads lack', async () => {
                assert.match(await text(first(), '#threads'), /Cross-Origin-Opener-Policy/);
            });
        }

        it('the demo reports no failure, and violates no policy', async () => {
            for (const tab of tabs) assert.equal(await text(tab, '#failure'), '');
            assert.deepEqual(consoles.flat(), []);
        });
    });
}
