/** Measures each strategy in several real tabs: each is a process of its own, and all increment one counter. */

import { join } from 'node:path';
import { delay, until } from '../../tests/browser/harness/waiting.js';
import { createServer } from '../../web/server.js';
import { distFolder, repository } from './paths.js';
import { summarise } from './compare-statistics.js';

/** @typedef {import('../../tests/browser/harness/tab.js').Tab} Tab */
/** @typedef {import('../../tests/browser/harness/engines.js').Browser} Browser */
/** @typedef {import('./compare-statistics.js').Row} Row */

/** Longer than the page itself waits for an add() that began before the end. */
const GRACE_MS = 30_000;

/** The tabs agree once they have read the same value this many times in a row. */
const AGREEING_LOOKS = 3;
const LOOK_MS = 100;
const SETTLE_MAX_MS = 6000;

/** How long the visibility of increments is sampled: long enough for a 99th percentile of a fast strategy. */
const SIGHT_MS = 2000;

/**
 * Calls a function of the page; this one runs in the page.
 *
 * @param {string} name
 * @param {unknown[]} args
 * @returns {any}
 */
const callPage = (name, args) => /** @type {any} */ (globalThis).compare[name](...args);

/** @param {Tab} tab @param {string} name @param {unknown[]} args @returns {Promise<any>} */
const call = (tab, name, ...args) => tab.evaluate(callPage, name, args);

/** @param {Tab} tab @param {string} what @param {number} duration_ms @returns {Promise<any>} */
const result = (tab, what, duration_ms) =>
    until(
        async () => (await call(tab, 'result')) ?? void (await delay(LOOK_MS)),
        what,
        duration_ms + GRACE_MS,
    );

/**
 * Opens a tab that counts as visible, if the protocol can do that: the timers of a hidden tab run once a second.
 *
 * @param {Browser} browser
 * @param {string} url
 */
async function openTab(browser, url) {
    const tab = await browser.openTab(url);
    await /** @type {any} */ (tab).send?.('Emulation.setFocusEmulationEnabled', { enabled: true });
    return tab;
}

/** @param {Tab[]} tabs */
async function assertApart(tabs) {
    const pids = new Set();
    for (const tab of tabs) pids.add(await tab.pid());
    if (pids.size < tabs.length)
        throw new Error(`${tabs.length} tabs share ${pids.size} processes; each must have its own`);
}

/** Reads in all tabs until they agree or SETTLE_MAX_MS are over. @param {Tab[]} tabs */
async function settle(tabs) {
    const end_ms = performance.now() + SETTLE_MAX_MS;
    let agreeing = 0;
    let before = '';
    for (;;) {
        /** @type {number[]} */
        const values = await Promise.all(tabs.map((tab) => call(tab, 'read').then((read) => read ?? NaN)));
        const converged = values.every((value) => value === values[0]);
        agreeing = converged && String(values) === before ? agreeing + 1 : 0;
        before = String(values);
        const over = performance.now() > end_ms;
        if (agreeing >= AGREEING_LOOKS || over) {
            const known = values.filter((value) => !Number.isNaN(value));
            return { value: Math.max(0, ...known), values, converged };
        }
        await delay(LOOK_MS);
    }
}

/** @param {Tab[]} tabs */
async function sightOf([asking, answering]) {
    if (!asking || !answering) return;
    await call(answering, 'answer');
    await call(asking, 'ask', SIGHT_MS);
    return result(asking, 'how soon another tab sees an increment', SIGHT_MS);
}

/** @param {Tab[]} tabs @param {string} strategy @param {number} duration_ms @returns {Promise<Row>} */
async function hammer(tabs, strategy, duration_ms) {
    const [declared] = await Promise.all(tabs.map((tab) => call(tab, 'open', 'compare', { strategy })));
    await Promise.all(tabs.map((tab) => call(tab, 'hammer', duration_ms)));
    await delay(duration_ms);
    const works = await Promise.all(tabs.map((tab) => result(tab, `${strategy} to end`, duration_ms)));
    const end = await settle(tabs);
    const sight = await sightOf(tabs);
    return summarise({ strategy, declared, tabs: works, sight, end });
}

/**
 * Measures one strategy, on an origin and in tabs of its own, so that nothing of the previous strategy is left.
 *
 * @param {Browser} browser
 * @param {string} strategy
 * @param {{ tabs: number, duration_ms: number }} options
 */
async function measureStrategy(browser, strategy, { tabs: count, duration_ms }) {
    const mounts = {
        '/': join(repository, 'bench/page'),
        '/dist': distFolder,
        '/idle-worker.js': join(repository, 'tests/browser/page/idle-worker.js'),
    };
    const server = await createServer({ mounts });
    /** @type {Tab[]} */
    const tabs = [];
    try {
        while (tabs.length < count) tabs.push(await openTab(browser, `${server.url}/compare.html`));
        await assertApart(tabs);
        return await hammer(tabs, strategy, duration_ms);
    } finally {
        await Promise.allSettled(tabs.map((tab) => tab.close()));
        await server.close();
    }
}

/**
 * @param {import('../../tests/browser/harness/engines.js').Engine} engine
 * @param {{ tabs: number, duration_ms: number, strategies: readonly string[] }} options
 * @param {(strategy: string) => void} report called before each strategy
 * @returns {Promise<Row[]>}
 */
export async function measure(engine, options, report) {
    const browser = await engine.launch();
    try {
        const rows = [];
        for (const strategy of options.strategies) {
            report(strategy);
            rows.push(await measureStrategy(browser, strategy, options));
        }
        return rows;
    } finally {
        await browser.close();
    }
}
