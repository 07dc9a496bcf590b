/** How a contended lock is shared, and what it costs with more tabs that wait, in messages that the emulator counts. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';
import { open } from 'tabacus';

/** Counts the messages that the tabs of an origin receive. */
class Receipts {
    count = 0;

    /** Counts the messages of channels that the window opens from now on. @param {any} window */
    watch(window) {
        const add = () => ++this.count;
        window.BroadcastChannel = class extends window.BroadcastChannel {
            /** @param {string} name */
            constructor(name) {
                super(name);
                this.addEventListener('message', add);
            }
        };
    }
}

/** @param {any} window @param {number} delay_ms */
const sleep = (window, delay_ms) => new Promise((resolve) => window.setTimeout(resolve, delay_ms));

/**
 * Opens tabs of which each runs under the lock again and again.
 *
 * @param {number} tabsCount
 * @param {{ rounds: number, hold_ms?: number, pause_ms?: number }} work
 */
async function contend(tabsCount, { rounds, hold_ms = 0, pause_ms }) {
    const origin = await createOrigin();
    const receipts = new Receipts();
    const tabs = [];
    for (let at = 0; at < tabsCount; ++at) {
        const { window } = origin.openTab();
        receipts.watch(window);
        tabs.push({ window, tab: await open({ window }) });
    }
    for (const { tab } of tabs) await tab.lock('l').run(() => {}); // loads the module of locks
    await origin.settled();
    receipts.count = 0;
    /** @type {number[]} */
    const grants = [];
    const work = async (/** @type {any} */ { window, tab }, /** @type {number} */ at) => {
        for (let round = 0; round < rounds; ++round) {
            await tab.lock('l').run(async () => {
                grants.push(at);
                if (hold_ms > 0) await sleep(window, hold_ms);
            });
            if (pause_ms !== undefined) await sleep(window, pause_ms);
        }
    };
    await Promise.all(tabs.map(work));
    await origin.settled();
    const handOvers = grants.filter((at, index) => at !== grants[index - 1]).length;
    for (const { tab } of tabs) await tab.close();
    origin.close();
    assert.equal(grants.length, tabsCount * rounds);
    return { grants, handOvers, each: receipts.count / handOvers };
}

describe('contended locks', () => {
    for (const [name, work] of /** @type {const} */ ([
        ['holders that do not pause', { rounds: 20 }],
        ['holders that wait for a timer', { rounds: 3, hold_ms: 5 }],
        ['holders that pause before they ask again', { rounds: 3, hold_ms: 1, pause_ms: 1 }],
    ])) {
        it(`the number of tabs that wait does not change how many receive a hand-over: ${name}`, async () => {
            const few = await contend(5, work);
            for (const tabsCount of [20, 60]) {
                const many = await contend(tabsCount, work);
                const counts = `${few.each} messages with 5 tabs, ${many.each} with ${tabsCount}`;
                assert.ok(many.each <= few.each + 1, counts);
            }
        });
    }

    for (const [name, hold_ms] of /** @type {const} */ ([
        ['do not wait', 0],
        ['wait for a timer', 0.2],
    ])) {
        it(`tabs get the lock equally often, in shares of at most 32 grants: holders that ${name}`, async () => {
            const rounds = hold_ms > 0 ? 60 : 200;
            const tabsCount = 5;
            const { grants } = await contend(tabsCount, { rounds, hold_ms });
            const counts = Array.from({ length: tabsCount }, () => 0);
            let share = 0;
            let largest = 0;
            for (const [index, at] of grants.entries()) {
                share = at === grants[index - 1] ? share + 1 : 1;
                // A tab that was granted the lock before any other requested it learns of their requests by messages.
                if (index > tabsCount * 32) largest = Math.max(largest, share);
                counts[at] = (counts[at] ?? 0) + 1;
                if (counts[at] === rounds) break;
            }
            assert.ok(largest <= 32, `${largest} grants one after another`);
            assert.ok(Math.min(...counts) >= rounds / 2, counts.join(' '));
        });
    }
});
