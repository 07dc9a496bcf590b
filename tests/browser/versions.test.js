/**
 * Tabs of version 0.1.0, as npm published it, and of this version at work in one browser: nothing that either has
 * acknowledged is lost, and nothing is granted, numbered or run twice.
 */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { describeIn, ENGINES } from './harness/engines.js';
import { closeAll, useBrowser } from './harness/fixture.js';
import { until } from './harness/waiting.js';

/** @typedef {import('./harness/tab.js').Tab} Tab */

const ROUNDS = 5;
const LIMIT = 12;

/** The addresses of the two packages, in the order in which tabs are opened. */
const packages = ['/earlier/dist/web/tabacus.js', '/dist/web/tabacus.js'];

/** Opens the namespace by a package, and handles jobs. @param {Tab} tab @param {string} address @param {string} name */
const openBy = (tab, address, name) =>
    tab.evaluate(
        async (from, namespace) => {
            const { open } = await import(from);
            const page = /** @type {any} */ (globalThis);
            page.ours = await open({ namespace });
            Object.assign(page, { runs: [], warnings: [] });
            page.ours.addEventListener('warning', (/** @type {any} */ { detail }) =>
                page.warnings.push(detail.code),
            );
            page.ours.queue('q').handle((/** @type {any} */ { payload }) => void page.runs.push(payload));
        },
        address,
        name,
    );

/** Uses all parts, and returns what was acknowledged. @param {Tab} tab @param {string} name */
const work = (tab, name) =>
    tab.evaluate(
        async (me, rounds, limit) => {
            const { ours } = /** @type {any} */ (globalThis);
            const done = {
                numbers: /** @type {number[]} */ ([]),
                taken: 0,
                jobs: /** @type {string[]} */ ([]),
            };
            for (let round = 0; round < rounds; ++round) {
                ours.counter('c').add(1);
                await ours.counter('c').flush();
                // Two transactions: another holder between them would be overwritten.
                await ours.lock('l').run(async (/** @type {any} */ held) => {
                    const sum = await held.commit('s', (/** @type {any} */ tx) => tx.get('s', 'sum'));
                    await held.commit('s', (/** @type {any} */ tx) => tx.put('s', 'sum', (sum ?? 0) + 1));
                });
                done.numbers.push(await ours.sequence('n').next());
                for (let right = 0; right < 2; ++right)
                    done.taken += Number(await ours.budget('b', { limit }).tryTake());
                await ours.queue('q').enqueue(`${me}${round}`);
                done.jobs.push(`${me}${round}`);
            }
            return done;
        },
        name,
        ROUNDS,
        LIMIT,
    );

/** @param {Tab} tab @returns {Promise<{ runs: string[], warnings: string[] }>} */
const seen = (tab) =>
    tab.evaluate(() => {
        const { runs, warnings } = /** @type {any} */ (globalThis);
        return { runs, warnings };
    });

describeIn([ENGINES.chromium], 'Tabs of version 0.1.0 and of this version together', (engine) => {
    const browser = useBrowser(engine, { isolated: false, earlier: 'tabacus-0.1.0.tgz' });

    it('two tabs of each lose nothing, and grant, number and run nothing twice', async () => {
        const namespace = browser.namespace();
        /** @type {Tab[]} */
        const tabs = [];
        for (const at of [0, 1, 2, 3]) {
            const tab = await browser.openTab();
            await openBy(tab, String(packages[at % 2]), namespace);
            tabs.push(tab);
        }
        const done = await Promise.all(tabs.map((tab, at) => work(tab, 'abcd'.charAt(at))));
        const jobs = done.flatMap((one) => one.jobs).sort();
        const runs = async () => (await Promise.all(tabs.map(seen))).flatMap((one) => one.runs).sort();
        await until(async () => (await runs()).length >= jobs.length, 'the end of all jobs');
        assert.deepEqual(await runs(), jobs);
        const numbers = done.flatMap((one) => one.numbers);
        assert.equal(new Set(numbers).size, 4 * ROUNDS);
        assert.equal(
            done.reduce((sum, { taken }) => sum + taken, 0),
            LIMIT,
        );
        for (const [at, { warnings }] of (await Promise.all(tabs.map(seen))).entries())
            assert.deepEqual(
                warnings.filter((code) => at % 2 === 0 || code !== 'older-version'),
                [],
            );
        for (const tab of tabs) {
            const [count, sum] = await tab.evaluate(async () => {
                const { ours } = /** @type {any} */ (globalThis);
                const read = (/** @type {any} */ held) =>
                    held.commit('s', (/** @type {any} */ tx) => tx.get('s', 'sum'));
                return [await ours.counter('c').read(), await ours.lock('l').run(read)];
            });
            assert.deepEqual([count, sum], [4 * ROUNDS, 4 * ROUNDS]);
        }
        await closeAll(tabs);
    });
});
