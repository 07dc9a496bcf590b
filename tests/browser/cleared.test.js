/**
 * A response with `Clear-Site-Data: "storage"` while two tabs are at work, and a third tab that is opened afterwards. In
 * Chromium the third one gets another lock manager than the first two.
 */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { describeIn, ENGINES } from './harness/engines.js';
import { useBrowser } from './harness/fixture.js';
import { openLocks } from './harness/locks.js';

/** @typedef {import('./harness/tab.js').Tab} Tab */

const JOBS = 6;
const LIMIT = 5;

/** Begins to lead, handles jobs, and takes a number and a right. @param {Tab} tab */
const work = (tab) =>
    tab.evaluate(async (limit) => {
        const page = /** @type {any} */ (globalThis);
        const { tab: ours } = page;
        Object.assign(page, { losses: [], warnings: [], runs: [], leads: false });
        ours.addEventListener('warning', (/** @type {any} */ { detail }) => page.warnings.push(detail.code));
        const lead = ours.leader('l').run(async (/** @type {any} */ { signal }) => {
            page.leads = true;
            signal.addEventListener('abort', () => {
                page.leads = false;
                page.losses.push(signal.reason.message);
            });
            await new Promise(() => {});
        });
        lead.catch(() => {});
        ours.queue('q').handle(async (/** @type {any} */ { payload }) => {
            page.runs.push(payload);
            await new Promise((resolve) => setTimeout(resolve, 5));
        });
        const numbers = [/** @type {number} */ (await ours.sequence('n').next())];
        const taken = Number(await ours.budget('b', { limit }).tryTake(1));
        ours.counter('c').add(1);
        await ours.counter('c').flush();
        return { numbers, taken };
    }, LIMIT);

/** Enqueues jobs, and takes as many numbers and rights as it is given. @param {Tab} tab @param {string} name */
const use = (tab, name) =>
    tab.evaluate(
        async (me, jobs, limit) => {
            const { tab: ours } = /** @type {any} */ (globalThis);
            for (let i = 0; i < jobs; ++i) await ours.queue('q').enqueue(`${me}${i}`);
            /** @type {number[]} */
            const numbers = [];
            let taken = 0;
            let refused = 0;
            for (let i = 0; i <= limit; ++i) {
                await ours
                    .sequence('n')
                    .next()
                    .then(
                        (/** @type {number} */ n) => numbers.push(n),
                        (/** @type {any} */ { code }) => (refused += Number(code === 'unavailable')),
                    );
                await ours
                    .budget('b', { limit })
                    .tryTake(1)
                    .then(
                        (/** @type {boolean} */ took) => (taken += Number(took)),
                        () => {},
                    );
            }
            return { numbers, taken, refused };
        },
        name,
        JOBS,
        LIMIT,
    );

/** Waits until a tab is notified of the loss, or, where it did not lead, has lost the store. @param {Tab} tab */
const whenNotified = (tab) =>
    tab.evaluate(async () => {
        const page = /** @type {any} */ (globalThis);
        page.lost ??= new Promise((resolve) => page.tab.addEventListener('storelost', resolve));
        await page.lost;
    });

describeIn(
    [ENGINES.chromium, ENGINES.firefox, ENGINES.webkit],
    'Site data cleared by a response while tabs are at work',
    (engine) => {
        const browser = useBrowser(engine);

        it('one leader remains, each job runs once, numbers are distinct, a budget is kept, and old tabs are notified', async () => {
            const namespace = browser.namespace();
            const old = [await openLocks(browser, namespace), await openLocks(browser, namespace)];
            const first = [];
            for (const tab of old) first.push(await work(tab));
            const [a, b] = /** @type {[Tab, Tab]} */ (old);
            await a.evaluate(() => fetch('/clear-site-data').then((response) => response.text()));
            for (const tab of old) await whenNotified(tab);
            const c = await openLocks(browser, namespace);
            first.push(await work(c));
            const all = [a, b, c];
            const used = [];
            for (const [i, tab] of all.entries()) used.push(await use(tab, 'abc'.charAt(i)));
            await c.evaluate(() => /** @type {any} */ (globalThis).tab.queue('q').onIdle());
            // A tab that is cut off steps down once it has probed its lock manager.
            const states = [];
            for (const tab of all) {
                states.push(
                    await tab.evaluate(() => {
                        const { leads, runs, losses, warnings, tab: ours } = /** @type {any} */ (globalThis);
                        return { leads, runs, losses, warnings, exclusion: ours.capabilities.exclusion };
                    }),
                );
            }
            assert.equal(states.filter(({ leads }) => leads).length, 1);
            assert.deepEqual(
                states.flatMap(({ runs }) => runs).sort(),
                ['a', 'b', 'c'].flatMap((me) => Array.from({ length: JOBS }, (_, i) => `${me}${i}`)),
            );
            const replaced = engine === ENGINES.chromium;
            const numbers = [...first, ...used].flatMap((one) => one.numbers);
            assert.equal(new Set(numbers).size, numbers.length, `${numbers}`);
            const taken = [...first, ...used].reduce((sum, one) => sum + one.taken, 0);
            assert.ok(taken <= LIMIT, `${taken} of ${LIMIT} rights`);
            assert.match(states[0]?.losses[0], /site-data-cleared/);
            for (const { warnings, exclusion } of states.slice(0, 2)) {
                assert.equal(warnings.includes('lock-manager-replaced'), replaced);
                assert.equal(exclusion, replaced ? 'none' : 'web-locks');
            }
            assert.equal(states[2]?.exclusion, 'web-locks');
            const counts = await Promise.all(
                all.map((tab) =>
                    tab.evaluate(() => {
                        const { tab: ours } = /** @type {any} */ (globalThis);
                        ours.counter('c').add(10);
                        return ours.counter('c').flush();
                    }),
                ),
            );
            assert.equal(counts.length, 3);
            const total = await c.evaluate(() => /** @type {any} */ (globalThis).tab.counter('c').read());
            assert.equal(total, 33);
            for (const tab of all) await tab.close();
        });
    },
);
