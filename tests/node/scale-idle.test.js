/**
 * While nothing happens, many tabs do nothing, except that one of the tabs that wait to lead asks the leader whether it
 * is alive. The emulator counts the calls of the platform in every tab.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';
import { open } from 'tabacus';

const five_minutes_ms = 300_000;
/** How often the leader is asked (wasm/src/protocol/lock/queue/holder_check.cpp). */
const asks_ms = 4_600;
/** The number of the emulator's events for one question to the leader. */
const changes = 6;

/**
 * Counts the calls of the platform in a tab, and the timers that fire.
 *
 * @param {any} window
 * @param {Record<string, number>} counts
 */
function count(window, counts) {
    /** @param {string} what */
    const note = (what) => void (counts[what] = (counts[what] ?? 0) + 1);
    const locks = Object.getPrototypeOf(window.navigator.locks);
    /** @type {[any, string][]} */
    const methods = [
        [locks, 'request'],
        [locks, 'query'],
        [window.IDBDatabase.prototype, 'transaction'],
        [window.BroadcastChannel.prototype, 'postMessage'],
        [window, 'setTimeout'],
    ];
    for (const [owner, name] of methods) {
        const method = owner[name];
        /** @this {unknown} @param {...unknown} given */
        const counting = function (...given) {
            note(name);
            return method.apply(this, given);
        };
        Object.defineProperty(owner, name, { value: counting, configurable: true, writable: true });
    }
}

/** Lets so much virtual time pass. @param {any} window of a tab that is not counted @param {number} duration_ms */
const pass = (window, duration_ms) => new Promise((resolve) => window.setTimeout(resolve, duration_ms));

/** Opens so many tabs, each with everything that waits for other tabs. @param {number} tabs */
async function openIdleTabs(tabs) {
    const origin = await createOrigin();
    const clock = origin.openTab().window;
    /** @type {Record<string, number>} */
    const counts = {};
    /** @type {{ terms: number, holders: (string | undefined)[], jobs: unknown[] }} */
    const seen = { terms: 0, holders: [], jobs: [] };
    const opened = [];
    for (let at = 0; at < tabs; ++at) {
        const page = origin.openTab();
        count(page.window, counts);
        const tab = await open({ window: page.window });
        tab.counter('visits').subscribe(() => {});
        tab.lock('basket').subscribe((requests) => {
            seen.holders[at] = requests.find(({ state }) => state === 'held')?.label;
        });
        void tab.leader('sync').run(async (term) => {
            ++seen.terms;
            await term.answer((request) => request * 2);
        });
        tab.queue('mail').handle((job) => void seen.jobs.push(job.payload));
        opened.push({ page, tab });
    }
    await pass(clock, 30_000);
    return { origin, clock, counts, seen, opened };
}

describe('idle tabs', () => {
    it('sixty idle tabs begin no transaction and request nothing, and one of them asks the leader every 5 s', async () => {
        const { origin, clock, counts, seen } = await openIdleTabs(60);
        assert.equal(seen.terms, 1);
        for (const name of Object.keys(counts)) counts[name] = 0;
        const before = origin.happened;
        await pass(clock, five_minutes_ms);
        const called = Object.fromEntries(Object.entries(counts).filter(([, times]) => times > 0));
        const questions = called.setTimeout ?? 0;
        assert.ok(Math.abs(questions - five_minutes_ms / asks_ms) <= 1, `${questions} questions`);
        assert.deepEqual(called, { setTimeout: questions, postMessage: 2 * questions });
        // A timer, a question and an answer each, and the timer of this test.
        assert.ok(origin.happened - before <= 2 + changes * questions, `${origin.happened - before}`);
        origin.close();
    });

    it('tabs that were idle for long learn at once of a holder, of its death, of a call and of a job', async () => {
        const { origin, clock, counts, seen, opened } = await openIdleTabs(5);
        const [, second, third, fourth] = opened;
        await pass(clock, five_minutes_ms);
        void third?.tab.lock('basket').acquire({ label: 'third' });
        await pass(clock, 5_000);
        assert.deepEqual(new Set(seen.holders), new Set(['third']));
        counts.query = 0;
        await pass(clock, five_minutes_ms);
        assert.equal(counts.query, 0); // while the lock is held, its holder is followed

        const killed_ms = clock.performance.now();
        third?.page.kill();
        seen.holders[2] = undefined;
        for (let tries = 0; tries < 100 && seen.holders.some(Boolean); ++tries) await pass(clock, 1);
        assert.ok(!seen.holders.some(Boolean));
        assert.ok(clock.performance.now() - killed_ms < 500);

        assert.equal(await second?.tab.leader('sync').call(21), 42);
        opened[0]?.page.kill(); // it leads
        assert.equal(await second?.tab.leader('sync').call(4), 8);
        assert.equal(seen.terms, 2);
        await fourth?.tab.queue('mail').enqueue('letter');
        await pass(clock, 100);
        assert.deepEqual(seen.jobs, ['letter']);
        origin.close();
    });
});
