/**
 * Tabs of version 0.1.0, as npm published it, and of this version at work in one browser, and tabs of this version and of
 * the later one that `npm run proof` builds: nothing that either has acknowledged is lost, and nothing is granted,
 * numbered or run twice.
 */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { describeIn, ENGINES } from './harness/engines.js';
import { closeAll, useBrowser } from './harness/fixture.js';
import { until } from './harness/waiting.js';

/** @typedef {import('./harness/tab.js').Tab} Tab */

const ROUNDS = 5;
const LIMIT = 12;

const EARLIER = '/earlier/dist/web/tabacus.js';
const PRESENT = '/dist/web/tabacus.js';
const LATER = '/later/dist/web/tabacus.js';

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

/**
 * Uses all parts, and returns what was not refused. A call may be refused with `version-mismatch` if the tab is the older
 * one of two versions with different formats.
 *
 * @param {Tab} tab
 * @param {string} name
 * @param {boolean} mayBeRefused
 */
const work = (tab, name, mayBeRefused) =>
    tab.evaluate(
        async (me, rounds, limit, excused) => {
            const { ours } = /** @type {any} */ (globalThis);
            const done = {
                locked: 0,
                numbers: /** @type {number[]} */ ([]),
                taken: 0,
                jobs: /** @type {string[]} */ ([]),
            };
            const unlessRefused = (
                /** @type {Promise<any>} */ call,
                /** @type {(value: any) => unknown} */ then,
            ) =>
                call.then(then, (error) => {
                    if (!excused || error.code !== 'version-mismatch') throw error;
                });
            // Two transactions: another holder between them would be overwritten.
            const section = async (/** @type {any} */ held) => {
                const sum = await held.commit('s', (/** @type {any} */ tx) => tx.get('s', 'sum'));
                await held.commit('s', (/** @type {any} */ tx) => tx.put('s', 'sum', (sum ?? 0) + 1));
                ++done.locked;
            };
            for (let round = 0; round < rounds; ++round) {
                ours.counter('c').add(1);
                await ours.counter('c').flush();
                await unlessRefused(ours.lock('l').run(section), () => {});
                await unlessRefused(ours.sequence('n').next(), (number) => done.numbers.push(number));
                for (let right = 0; right < 2; ++right)
                    await unlessRefused(
                        ours.budget('b', { limit }).tryTake(),
                        (got) => (done.taken += Number(got)),
                    );
                const job = `${me}${round}`;
                await unlessRefused(ours.queue('q').enqueue(job), () => done.jobs.push(job));
            }
            return done;
        },
        name,
        ROUNDS,
        LIMIT,
        mayBeRefused,
    );

/** @param {Tab} tab @returns {Promise<{ runs: string[], warnings: string[] }>} */
const seen = (tab) =>
    tab.evaluate(() => {
        const { runs, warnings } = /** @type {any} */ (globalThis);
        return { runs, warnings };
    });

/** What a tab reads at the end. @param {Tab} tab @returns {Promise<number[]>} the counter, and the sum that the lock guards */
const readBy = (tab) =>
    tab.evaluate(async () => {
        const { ours } = /** @type {any} */ (globalThis);
        const read = (/** @type {any} */ held) =>
            held.commit('s', (/** @type {any} */ tx) => tx.get('s', 'sum'));
        return [await ours.counter('c').read(), await ours.lock('l').run(read)];
    });

/**
 * Opens two tabs by each package, in turn, and lets all of them work at once. Returns what they did.
 *
 * @param {ReturnType<typeof useBrowser>} browser
 * @param {string[]} packages two addresses
 */
async function workTogether(browser, packages) {
    const namespace = browser.namespace();
    /** @type {Tab[]} */
    const tabs = [];
    for (const at of [0, 1, 2, 3]) {
        const tab = await browser.openTab();
        await openBy(tab, String(packages[at % 2]), namespace);
        tabs.push(tab);
    }
    const mayBeRefused = (/** @type {number} */ at) => packages[1] === LATER && at % 2 === 0;
    const done = await Promise.all(tabs.map((tab, at) => work(tab, 'abcd'.charAt(at), mayBeRefused(at))));
    const jobs = done.flatMap((one) => one.jobs).sort();
    const runs = async () => (await Promise.all(tabs.map(seen))).map((one) => one.runs);
    const allRan = async () => {
        const ran = (await runs()).flat();
        return jobs.every((job) => ran.includes(job));
    };
    await until(allRan, 'the end of all jobs');
    const numbers = done.flatMap((one) => one.numbers);
    assert.equal(new Set(numbers).size, numbers.length);
    const sum = (/** @type {'taken' | 'locked'} */ what) => done.reduce((total, one) => total + one[what], 0);
    const warnings = (await Promise.all(tabs.map(seen))).map((one) => one.warnings);
    return { tabs, jobs, runs, numbers, taken: sum('taken'), locked: sum('locked'), warnings };
}

describeIn([ENGINES.chromium], 'Tabs of version 0.1.0 and of this version together', (engine) => {
    const browser = useBrowser(engine, { isolated: false, earlier: 'tabacus-0.1.0.tgz' });

    it('two tabs of each lose nothing, and grant, number and run nothing twice', async () => {
        const { tabs, jobs, runs, numbers, taken, warnings } = await workTogether(browser, [
            EARLIER,
            PRESENT,
        ]);
        assert.equal(jobs.length, 4 * ROUNDS);
        assert.deepEqual((await runs()).flat().sort(), jobs);
        assert.equal(numbers.length, 4 * ROUNDS);
        assert.equal(taken, LIMIT);
        for (const [at, codes] of warnings.entries())
            assert.deepEqual(
                codes.filter((code) => at % 2 === 0 || code !== 'older-version'),
                [],
            );
        for (const tab of tabs) assert.deepEqual(await readBy(tab), [4 * ROUNDS, 4 * ROUNDS]);
        await closeAll(tabs);
    });
});

describeIn(
    process.env.TABACUS_LATER ? [ENGINES.chromium] : [],
    'Tabs of this version and of a later one together',
    (engine) => {
        const browser = useBrowser(engine, { isolated: false });

        it('two tabs of each lose nothing, and grant, number and run nothing twice', async () => {
            const { tabs, jobs, runs, taken, locked, warnings } = await workTogether(browser, [
                PRESENT,
                LATER,
            ]);
            assert.ok(taken <= LIMIT, String(taken));
            assert.deepEqual(warnings, [['version-mismatch'], [], ['version-mismatch'], []]);
            const later = tabs.filter((_, at) => at % 2 === 1);
            for (const tab of later) {
                assert.deepEqual(await readBy(tab), [4 * ROUNDS, locked]);
                await tab.evaluate(() => /** @type {any} */ (globalThis).ours.queue('q').onIdle());
            }
            assert.deepEqual((await runs()).flat().sort(), jobs);
            await closeAll(tabs);
        });
    },
);
