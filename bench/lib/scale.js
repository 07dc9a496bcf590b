/** Helpers for the rows of `scale`: many tabs, calls that take minutes, and the processor time of a browser. */

import { until } from '../../tests/browser/harness/waiting.js';
import { call } from './context.js';
import { options } from './options.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('./context.js').Tab} Tab */

/** The longest time that one call in a page may take. */
const LIMIT_MS = 600_000;

/** How long before the beginning of a common measurement it is announced to the tabs, of which there may be sixty. */
const NOTICE_MS = 1_000;

/**
 * Returns the numbers of tabs to measure with: those of the command line, if it has any.
 *
 * @param {number[]} usual
 */
export const sizesOr = (usual) => (options.tabs.length > 0 ? options.tabs : usual);

/**
 * Opens tabs that count as visible, as in windows side by side.
 *
 * @param {Context} context @param {number} count @returns {Promise<Tab[]>}
 */
export async function openTabs({ openTab }, count) {
    const tabs = [];
    for (let at = 0; at < count; at++) {
        const tab = await openTab('scale.html');
        await tab.send('Emulation.setFocusEmulationEnabled', { enabled: true });
        tabs.push(tab);
    }
    return tabs;
}

/**
 * Measures with more and more tabs.
 *
 * @template T
 * @param {Context} context
 * @param {readonly number[]} sizes  in rising order
 * @param {string} subject  what each new tab starts
 * @param {(tabs: Tab[]) => Promise<T[]>} measure
 * @returns {Promise<T[]>}
 */
export async function withMoreTabs(context, sizes, subject, measure) {
    /** @type {Tab[]} */
    const tabs = [];
    const measured = [];
    for (const size of sizes) {
        const opened = await openTabs(context, size - tabs.length);
        for (const tab of opened) await call(tab, 'start', subject);
        tabs.push(...opened);
        measured.push(...(await measure(tabs)));
    }
    await Promise.all(tabs.map((tab) => tab.close()));
    return measured;
}

/**
 * Calls a function of the page, which may take minutes.
 *
 * @param {Tab} tab @param {string} name @param {unknown[]} args
 * @returns {Promise<any>}
 */
export async function callLong(tab, name, ...args) {
    await call(tab, 'begin', name, args);
    return outcomeOf(tab, name);
}

/**
 * Calls a function of several pages at once, which may take minutes. One page is polled at a time: if all of them were,
 * the polls would take the processor's time from what is measured.
 *
 * @param {readonly Tab[]} tabs @param {string} name @param {unknown[]} args
 * @returns {Promise<any[]>}
 */
export async function callLongInAll(tabs, name, ...args) {
    for (const tab of tabs) await call(tab, 'begin', name, args);
    const values = [];
    for (const tab of tabs) values.push(await outcomeOf(tab, name));
    return values;
}

/** Waits for the end of a call that was begun. @param {Tab} tab @param {string} name @returns {Promise<any>} */
async function outcomeOf(tab, name) {
    const { value, error } = await until(() => call(tab, 'outcome'), `the end of ${name}()`, LIMIT_MS);
    if (error) throw new Error(`${name}(): ${error}`);
    return value;
}

/**
 * Measures in several tabs during the same time.
 *
 * @template T
 * @param {number} duration_ms
 * @param {(from_ms: number, until_ms: number) => Promise<T>} measure gets times of the wall clock
 */
export function inStep(duration_ms, measure) {
    const from_ms = Date.now() + NOTICE_MS;
    return measure(from_ms, from_ms + duration_ms);
}

/** The processor time of all processes of a browser so far. @param {Context} context @returns {Promise<number>} milliseconds */
export async function processorTime({ browser }) {
    const { processInfo } = await browser.cdp.send('SystemInfo.getProcessInfo');
    return processInfo.reduce(
        (/** @type {number} */ sum, /** @type {any} */ { cpuTime }) => sum + cpuTime * 1_000,
        0,
    );
}
