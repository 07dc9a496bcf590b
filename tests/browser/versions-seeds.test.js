/**
 * Tabs of two versions that are opened, closed and killed at seeded moments in one browser, while others work: nothing that
 * either version has acknowledged is lost, and nothing is granted, numbered or run twice.
 */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { describeIn, ENGINES } from './harness/engines.js';
import { closeAll, useBrowser } from './harness/fixture.js';
import { repetitions } from './harness/repetitions.js';
import { EARLIER, LATER, LIMIT, openBy, PRESENT, readBy, seen, STEPS, work } from './harness/two-packages.js';
import { until } from './harness/waiting.js';
import { seededRandom } from './page/seeded-random.js';

/** @typedef {import('./harness/tab.js').Tab} Tab */

const SEEDS = Array.from({ length: repetitions(2, 20) }, (_, at) => at + 1);

/** How many tabs work at the same time, and how many follow each other in each of these places. */
const PLACES = 3;
const LIVES = 3;

/**
 * What a tab does from its beginning to its end. A tab that is killed handles no jobs, so that no run goes unseen.
 *
 * @typedef {{ name: string, address: string, rounds: string[][], killed: boolean }} Life
 */

/** @param {string[]} packages two addresses @param {number} seed @returns {Life[][]} the tabs of each place, in their order */
function planOf(packages, seed) {
    const random = seededRandom(seed);
    const shuffled = () => {
        /** @type {string[]} */
        const order = [];
        for (const step of STEPS) order.splice(random(order.length + 1), 0, step);
        return order;
    };
    return Array.from({ length: PLACES }, (_, place) =>
        Array.from({ length: LIVES }, (__, life) => ({
            name: `${'abc'.charAt(place)}${life}/`,
            address: String(packages[random(2)]),
            rounds: Array.from({ length: 1 + random(3) }, shuffled),
            killed: random(3) === 0,
        })),
    );
}

/** What all tabs have acknowledged, and what a tab was doing when it was killed. */
class Acknowledged {
    counted = 0;
    locked = 0;
    taken = 0;
    /** @type {number[]} */
    numbers = [];
    /** @type {string[]} */
    jobs = [];
    /** @type {string[]} */
    runs = [];
    /** The jobs that were perhaps enqueued. @type {string[]} */
    uncertain = [];

    /** @param {Awaited<ReturnType<typeof work>>} done */
    add(done) {
        this.counted += done.counted;
        this.locked += done.locked;
        this.taken += done.taken;
        this.numbers.push(...done.numbers);
        this.jobs.push(...done.jobs);
    }
}

/** Ends when no tab looks for its process. @type {Promise<unknown>} */
let searches = Promise.resolve();

/** Finds the process of a tab. One search runs at a time, because it recognises the process by a new Worker. @param {Tab} tab */
const findProcess = (tab) => (searches = searches.then(() => tab.pid()));

/**
 * Lives one life in a tab.
 *
 * @param {Tab} tab
 * @param {string} namespace
 * @param {Life} life
 * @param {boolean} mayBeRefused
 * @param {Acknowledged} known
 */
async function live(tab, namespace, { name, address, rounds, killed }, mayBeRefused, known) {
    await openBy(tab, address, namespace, { handles: !killed });
    if (killed) await findProcess(tab);
    for (const [round, steps] of rounds.entries()) {
        const last = killed && round === rounds.length - 1;
        const working = work(tab, { name: `${name}${round}/`, rounds: 1, mayBeRefused, steps });
        if (last) {
            known.uncertain.push(`${name}${round}/0`);
            working.catch(() => {}); // its tab is killed
            return tab.kill();
        }
        known.add(await working);
    }
    await tab.evaluate(() => /** @type {any} */ (globalThis).ours.close());
    known.runs.push(...(await seen(tab)).runs);
    await tab.close();
}

/**
 * Carries out the plan of a seed, and judges what is there at the end.
 *
 * @param {ReturnType<typeof useBrowser>} browser
 * @param {string[]} packages two addresses; if the second is that of the later version, the first may be refused
 * @param {number} seed
 */
async function judge(browser, packages, seed) {
    const namespace = browser.namespace();
    const known = new Acknowledged();
    const mayBeRefused = (/** @type {string} */ address) => packages[1] === LATER && address === PRESENT;
    await Promise.all(
        planOf(packages, seed).map(async (lives) => {
            for (const life of lives)
                await live(await browser.openTab(), namespace, life, mayBeRefused(life.address), known);
        }),
    );
    const readers = packages.filter((address) => !mayBeRefused(address));
    const tabs = await Promise.all(
        readers.map(async (address) => {
            const tab = await browser.openTab();
            await openBy(tab, address, namespace);
            return tab;
        }),
    );
    const runs = async () => [
        ...known.runs,
        ...(await Promise.all(tabs.map(seen))).flatMap((one) => one.runs),
    ];
    await until(async () => {
        const ran = await runs();
        return known.jobs.every((job) => ran.includes(job));
    }, 'the end of all jobs');
    for (const tab of tabs)
        await tab.evaluate(() => /** @type {any} */ (globalThis).ours.queue('q').onIdle());
    const ran = await runs();
    assert.deepEqual(ran.filter((job) => !known.uncertain.includes(job)).sort(), known.jobs.sort());
    assert.equal(new Set(ran).size, ran.length, 'no job runs twice');
    assert.equal(new Set(known.numbers).size, known.numbers.length);
    assert.ok(known.taken <= LIMIT, String(known.taken));
    for (const tab of tabs) {
        for (const [at, value] of (await readBy(tab)).entries()) {
            const least = at === 0 ? known.counted : known.locked;
            assert.ok(value >= least, `${value} is less than ${least}`);
            assert.ok(value <= least + known.uncertain.length, `${value} is too much beside ${least}`);
        }
    }
    await closeAll(tabs);
}

describeIn([ENGINES.chromium], 'Tabs of version 0.1.0 and of this version, by seeds', (engine) => {
    const browser = useBrowser(engine, { isolated: false, earlier: 'tabacus-0.1.0.tgz' });

    for (const seed of SEEDS)
        it(`nothing is lost or done twice when tabs are opened, closed and killed (seed ${seed})`, () =>
            judge(browser, [EARLIER, PRESENT], seed));
});

describeIn(
    process.env.TABACUS_LATER ? [ENGINES.chromium] : [],
    'Tabs of this version and of a later one, by seeds',
    (engine) => {
        const browser = useBrowser(engine, { isolated: false });

        for (const seed of SEEDS)
            it(`nothing is lost or done twice when tabs are opened, closed and killed (seed ${seed})`, () =>
                judge(browser, [PRESENT, LATER], seed));
    },
);
