/** Runs litmus programs in the tabs of a real browser, each tab in a process of its own. */

import { delay, TIMEOUT_MS, until } from '../browser/harness/waiting.js';
import { judge, countOutcomes } from './outcomes.js';

/** @typedef {import('../browser/harness/tab.js').Tab} Tab */
/** @typedef {import('./programs.js').Program} Program */

/** The time for one round. It takes some milliseconds, and a hundred times as long on a busy machine. */
const ROUND_MAX_MS = 200;
/** The pause between two questions whether a tab has ended, because each question disturbs the tab. */
const LOOK_MS = 100;

/** @param {string} name @param {unknown[]} args @returns {any} */
const callPage = (name, args) => /** @type {any} */ (globalThis).litmus[name](...args);

/**
 * Waits until a tab has ended its rounds, and resolves with what it reports.
 *
 * @param {Tab} tab
 * @param {string} what  the name of the run in the error of a hang
 * @param {number} rounds
 * @returns {Promise<import('./outcomes.js').Witness[]>}
 */
const result = (tab, what, rounds) =>
    until(
        async () => (await tab.evaluate(callPage, 'result', [])) ?? void (await delay(LOOK_MS)),
        what,
        TIMEOUT_MS + rounds * ROUND_MAX_MS,
    );

/**
 * Runs a program in the tabs, and resolves with its outcomes, compared with those that are allowed.
 *
 * @param {Tab[]} tabs  as many as the program has, or more
 * @param {Program} program
 * @param {{ rounds: number, seed: number, allowed: Record<string, string[]> }} options
 */
export async function runProgram(tabs, program, { rounds, seed, allowed }) {
    const members = tabs.slice(0, program.tabs.length);
    const run = `${program.name}-${seed}`;
    for (const [me, tab] of members.entries()) {
        await tab.evaluate(callPage, 'start', [{ run, program, me, rounds, seed: seed * 16 + me }]);
    }
    const witnesses = await Promise.all(members.map((tab) => result(tab, run, rounds)));
    return judge(program, countOutcomes(program, witnesses), allowed[program.name] ?? []);
}

/**
 * Opens as many tabs as the largest program has. Rejects if two of them share a process.
 *
 * @param {() => Promise<Tab>} openTab
 * @param {readonly Program[]} programs
 */
export async function openTabs(openTab, programs) {
    /** @type {Tab[]} */
    const tabs = [];
    while (tabs.length < Math.max(...programs.map((program) => program.tabs.length))) {
        tabs.push(await openTab());
    }
    const pids = new Set();
    for (const tab of tabs) pids.add(await tab.pid());
    if (pids.size < tabs.length) throw new Error(`${tabs.length} tabs share ${pids.size} processes`);
    return tabs;
}
