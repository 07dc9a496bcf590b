/** The soak test: real tabs perform random operations while they crash, freeze and lose their databases. */

import { fileURLToPath } from 'node:url';

import { delay, until } from '../browser/harness/waiting.js';
import { createServer } from '../../web/server.js';
import { memoryOf } from './memory.js';
import { PRESENT } from './packages.js';
import { schedule } from './schedule.js';
import { call, POSSIBLE, Tabs } from './tabs.js';

/** @typedef {import('../browser/harness/engines.js').Engine} Engine */
/** @typedef {import('./event-log.js').EventLog} EventLog */

/**
 * @typedef {object} SoakOptions
 * @property {Engine} engine
 * @property {number} [duration_ms]  the longest time for which things happen
 * @property {number} [steps]  how many things happen at most
 * @property {number} seed
 * @property {EventLog} log  receives what happens, for check()
 * @property {number} [tabs]
 * @property {number} [wait_ms]  the longest time between two things that happen
 * @property {string[]} [can]  what may happen to tabs; by default all that the driver of the engine can make happen
 * @property {import('./packages.js').Packages} [packages]
 * @property {(line: string) => void} [progress]  is called with a line every half minute
 */

const NAMESPACE = 'soak';
const TABS = 6;

/** How often the memory of the oldest tab is measured. */
const MEASURE_MS = 30_000;

/** The time that all jobs need to be settled once nothing happens any more. */
const IDLE_MS = 90_000;

/** @param {string} path */
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Serves the page of the test, the packages, and the log. @param {EventLog} log @param {import('./packages.js').Packages} packages */
const serve = (log, { mounts, isolated }) =>
    createServer({
        mounts: { '/soak/page': here('page'), '/browser/page': here('../browser/page'), ...mounts },
        handlers: { '/log': log.handle },
        isolated,
    });

/**
 * Runs the test. ./check.js judges what happened.
 *
 * @param {SoakOptions} options
 */
export async function soak({ engine, seed, log, tabs: count = TABS, packages = PRESENT, ...options }) {
    const server = await serve(log, packages);
    const browser = await engine.launch();
    try {
        const possible = [...(POSSIBLE[engine.name] ?? [])];
        const can = new Set(possible.filter((what) => options.can?.includes(what) ?? true));
        const url = `${server.url}/soak/page/index.html`;
        const tabs = new Tabs({ browser, url, namespace: NAMESPACE, log, kills: can.has('crash'), packages });
        for (let index = 0; index < count; index++) await tabs.add(seed + index);
        await run(tabs, schedule(seed, { tabs: count, can, wait_ms: options.wait_ms }), options);
        await finish(tabs);
    } finally {
        await browser.close();
        await server.close();
    }
}

/**
 * Makes things happen until the time is over. What lasts goes on while the next things happen to other tabs.
 *
 * @param {Tabs} tabs
 * @param {Generator<import('./schedule.js').Step, never>} steps
 * @param {Pick<SoakOptions, 'duration_ms' | 'steps' | 'progress'>} limits
 */
async function run(tabs, steps, { duration_ms = Infinity, steps: most = Infinity, progress = () => {} }) {
    const begun_ms = performance.now();
    /** @type {Set<Promise<unknown>>} */
    const going = new Set();
    /** @type {unknown[]} */
    const failures = [];
    let happened = 0;
    let measure_ms = 0;
    for (let taken = 0; taken < most; taken++) {
        const step = steps.next().value;
        await delay(step.wait_ms);
        const passed_ms = performance.now() - begun_ms;
        if (passed_ms > duration_ms || failures.length > 0) break;
        const one = tabs
            .happen(step)
            .then((did) => void (happened += Number(did)))
            .catch((error) => void failures.push(error))
            .finally(() => going.delete(one));
        going.add(one);
        if (passed_ms < measure_ms) continue;
        measure_ms = passed_ms + MEASURE_MS;
        await measure(tabs);
        progress(`${Math.round(passed_ms / 1000)} s, ${happened} steps, ${tabs.log.events.length} events`);
    }
    await Promise.all(going);
    if (failures.length > 0) throw failures[0];
}

/** Writes how much memory the oldest tab takes, unless something happens to it. @param {Tabs} tabs */
async function measure({ places: [oldest], log }) {
    if (!oldest || oldest.busy) return;
    log.append({ type: 'memory', page: oldest.page, bytes: await memoryOf(oldest.tab) });
}

/** Waits until everything has ended, and writes what is there. @param {Tabs} tabs */
async function finish(tabs) {
    await tabs.stop();
    const [oldest] = tabs.places;
    if (!oldest) throw new Error('all tabs are gone');
    tabs.log.append({ type: 'stopped' });
    await until(async () => (await call(oldest.tab, 'queueSize')) === 0, 'an empty queue', IDLE_MS).catch(
        () => {}, // the checker finds the jobs that were not settled
    );
    for (const { tab, page } of tabs.places) {
        const none = async () => (await call(tab, 'openResults')) === 0;
        await until(none, 'results').catch(() => tabs.log.append({ type: 'results-missing', page }));
    }
    await measure(tabs);
    for (const { tab } of tabs.readers()) await call(tab, 'readAll');
    while (await call(oldest.tab, 'discardSome'));
    for (const name of tabs.budgets) await call(oldest.tab, 'drain', name);
    tabs.log.append({ type: 'sizes', ...(await call(oldest.tab, 'sizes', NAMESPACE)) });
}
