/**
 * Tabs of version 0.1.0, as npm published it, and of this version at work in one browser, and tabs of this version and of
 * the later one that `npm run proof` builds: nothing that either has acknowledged is lost, and nothing is granted,
 * numbered or run twice.
 */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { describeIn, ENGINES } from './harness/engines.js';
import { closeAll, useBrowser } from './harness/fixture.js';
import { EARLIER, LATER, LIMIT, openBy, PRESENT, readBy, seen, work } from './harness/two-packages.js';
import { until } from './harness/waiting.js';

/** @typedef {import('./harness/tab.js').Tab} Tab */

const ROUNDS = 5;

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
    const done = await Promise.all(
        tabs.map((tab, at) => {
            const mayBeRefused = packages[1] === LATER && at % 2 === 0;
            return work(tab, { name: 'abcd'.charAt(at), rounds: ROUNDS, mayBeRefused });
        }),
    );
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
