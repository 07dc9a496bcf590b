/** Explorations that run every schedule: what they prove, and that they leave out no schedule that matters. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { explore, replay } from 'tabacus/emulator';

/** @typedef {import('tabacus/emulator').Scenario} Scenario */
/** @typedef {import('tabacus/emulator').InvariantContext} InvariantContext */
/** @typedef {NonNullable<Parameters<typeof explore>[1]>} Options */

/** A number of runs that is enough for every scenario below. */
const ENOUGH = 30_000;

/** @type {Scenario} */
const increments = async ({ window: { navigator, localStorage } }) => {
    await navigator.locks.request('n', () =>
        localStorage.setItem('n', String(Number(localStorage.getItem('n')) + 1)),
    );
};

/** @param {InvariantContext} context */
const isTwo = ({ origin }) => origin.openTab().window.localStorage.getItem('n') === '2';

/** @type {{ storage: 'interleaved' }} */
const shared = { storage: 'interleaved' };

/** Lets other tasks run in the window, without a timer. @param {any} window */
const turn = (window) =>
    new Promise((resolve) => {
        const { port1, port2 } = new window.MessageChannel();
        port1.onmessage = () => resolve(undefined);
        port2.postMessage(0);
    });

/** @param {any} window @param {number} delay_ms */
const sleep = (window, delay_ms) => new Promise((resolve) => window.setTimeout(resolve, delay_ms));

/** @param {Promise<unknown>} promise */
const outcome = (promise) =>
    promise.then(
        (value) => value ?? 'done',
        (error) => error.name,
    );

/** Small scenarios, each of which ends in several states. @type {Record<string, [Scenario, Options?]>} */
const SCENARIOS = {
    'stale reads': [
        ({ window: { localStorage } }, { index }) => {
            const seen = localStorage.getItem('k');
            if (index === 0) localStorage.setItem('k', '0');
            return seen;
        },
    ],
    'a clear() against a write': [
        ({ window: { localStorage } }, { index }) => {
            if (index === 0) localStorage.clear();
            else localStorage.setItem('k', '1');
            return localStorage.length;
        },
    ],
    'keys that are counted': [
        async ({ window }, { index }) => {
            if (index === 0) window.localStorage.setItem('k', '');
            const before = window.localStorage.length;
            await turn(window);
            return [before, window.localStorage.length];
        },
        shared,
    ],
    'the order of locks': [
        async ({ window: { navigator, localStorage } }, { index }) => {
            await navigator.locks.request('l', () => {
                localStorage.log = `${localStorage.log ?? ''}${index}`;
            });
        },
        shared,
    ],
    'a lock that is stolen, or released before': [
        async ({ window }, { index }) => {
            const { locks } = window.navigator;
            return outcome(
                index === 0
                    ? locks.request('l', () => turn(window))
                    : locks.request('l', { steal: true }, () => 'stolen'),
            );
        },
    ],
    'a lock that is available, or not': [
        async ({ window }, { index }) => {
            const { locks } = window.navigator;
            if (index === 0) return locks.request('l', () => 'held');
            return locks.request('l', { ifAvailable: true }, (/** @type {unknown} */ lock) => lock !== null);
        },
    ],
    'a snapshot of two locks': [
        async ({ window }, { index }) => {
            const { locks } = window.navigator;
            if (index === 0) return locks.request('l', () => 'held');
            const { held, pending } = await locks.query();
            return [held.length, pending.length];
        },
    ],
    'a request that is aborted, or granted before': [
        async ({ window }, { index }) => {
            const { locks } = window.navigator;
            const abort = new window.AbortController();
            const { signal } = abort;
            if (index === 0) return locks.request('l', () => 'first');
            const asked = outcome(locks.request('l', { signal }, () => 'second'));
            await turn(window);
            abort.abort();
            return asked;
        },
    ],
    'a message that a channel misses': [
        async ({ window }, { index }) => {
            const channel = new window.BroadcastChannel('c');
            if (index === 0) return void channel.postMessage('hello');
            return new Promise((resolve) => {
                channel.onmessage = ({ data }) => resolve(data);
                sleep(window, 1).then(() => resolve('nothing'));
            });
        },
    ],
    'timers of two tabs': [
        async ({ window }, { index }) => {
            const { localStorage } = window;
            await sleep(window, index === 0 ? 1 : 2);
            localStorage.log = `${localStorage.log ?? ''}${index}`;
            return window.performance.now();
        },
        shared,
    ],
    'a timer that outlives its scenario': [
        ({ window }, { index }) => {
            if (index === 0) window.setTimeout(() => (window.localStorage.late = 'yes'), 3);
            else return turn(window);
            return undefined;
        },
        shared,
    ],
    'a timer that is cancelled, or due before': [
        async ({ window }, { index }) => {
            const { localStorage } = window;
            if (index === 1) return void (localStorage.stop = 'yes');
            const timer = window.setTimeout(() => (localStorage.due = 'yes'), 1);
            await turn(window);
            if (localStorage.stop) window.clearTimeout(timer);
            return sleep(window, 2);
        },
        shared,
    ],
    'the time that a tab reads': [
        async ({ window }, { index }) => {
            if (index === 0) return sleep(window, 5);
            await turn(window);
            return window.performance.now();
        },
    ],
    'a storage event that a listener misses': [
        async ({ window }, { index }) => {
            if (index === 0) return void (window.localStorage.k = 'yes');
            await turn(window);
            let heard = 'nothing';
            window.addEventListener('storage', (/** @type {any} */ event) => (heard = event.newValue));
            await sleep(window, 1);
            return heard;
        },
        shared,
    ],
    'a storage event that comes after its listener is removed': [
        async ({ window }, { index }) => {
            if (index === 0) return void (window.localStorage.k = 'yes');
            let heard = 'nothing';
            window.onstorage = (/** @type {any} */ event) => (heard = event.newValue);
            await turn(window);
            window.onstorage = null;
            await sleep(window, 1);
            return heard;
        },
        shared,
    ],
    'a window that is opened and written to': [
        async ({ window }, { index }) => {
            if (index === 0) return void (window.localStorage.k = 'yes');
            const opened = window.open('', 'pop-up');
            const seen = opened.localStorage.k ?? 'no';
            await turn(window);
            return [seen, opened.localStorage.k ?? 'no'];
        },
        shared,
    ],
};

/** Runs every schedule. Returns the states in which it ends. @param {Scenario} scenario @param {Options} [options] */
async function statesOf(scenario, options) {
    /** @type {Set<string>} */
    const states = new Set();
    const report = await explore(scenario, {
        ...options,
        seeds: [],
        exhaust: ENOUGH,
        invariant: ({ origin, results }) => {
            const items = { ...origin.openTab().window.localStorage };
            states.add(JSON.stringify({ results, items }));
        },
    });
    assert.deepEqual([report.failure, report.verdict], ['', 'proved'], report.bound);
    return { states: [...states].sort(), runs: Number(/: (\d+) runs?;/.exec(report.bound)?.[1]) };
}

/** The same scenario, of which the search believes that its tabs share more than the origin. @param {Scenario} scenario */
const unreduced =
    (scenario) =>
    (/** @type {any} */ tab, /** @type {any} */ context) =>
        context.tabs && scenario(tab, context);

describe('the reduction of the schedules', () => {
    for (const [name, [scenario, options]] of Object.entries(SCENARIOS)) {
        it(`no state of ${name} is missed`, async () => {
            const reduced = await statesOf(scenario, options);
            const all = await statesOf(/** @type {Scenario} */ (unreduced(scenario)), options);
            assert.deepEqual(reduced.states, all.states);
            assert.ok(all.states.length > 1, `it ends in ${all.states.join(' and ')}`);
            assert.ok(reduced.runs < all.runs, `${reduced.runs} runs, and ${all.runs} without a reduction`);
            if (process.env.SHOW) console.log(name, reduced.runs, all.runs, all.states);
        });
    }
});
