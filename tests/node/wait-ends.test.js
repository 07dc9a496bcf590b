/**
 * `timeout` and `signal` end the wait of every call, also while IndexedDB is not answered: in the emulator, on its
 * virtual clock.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from 'tabacus';
import { createOrigin } from 'tabacus/emulator';
import { testOrigin } from './test-origin.js';

/** @typedef {import('tabacus').Tab} Tab */
/** @typedef {{ signal?: AbortSignal, timeout?: number }} Ends */

/** How much later than asked for a wait may end: the core has so long to withdraw a call. */
const slack_ms = 120;

/**
 * Every call that may wait, with options that end it.
 * @type {Record<string, (tab: Tab, ends: Ends) => Promise<unknown>>}
 */
const calls = {
    'lock.acquire': (tab, ends) => tab.lock('a').acquire(ends),
    'lock.acquire, ifAvailable': (tab, { signal, ...ends }) =>
        tab
            .lock('b')
            .acquire({ ...ends, ifAvailable: true, ...(signal && { releaseSignal: signal }) })
            .then((held) => assert.equal(held, null)),
    'lock.run': (tab, ends) => tab.lock('c').run(() => {}, ends),
    'lock.run, fence preferred': (tab, ends) =>
        tab
            .lock('c')
            .run(() => new Promise(() => {}), { fence: 'preferred', releaseSignal: ends.signal, ...ends }),
    lockAll: (tab, ends) => tab.lockAll(['d', 'e'], () => {}, ends),
    'semaphore.run': (tab, ends) => tab.semaphore('s', 2).run(() => {}, ends),
    waitForUnlock: (tab, ends) => tab.lock('f').waitForUnlock(ends),
    isLocked: (tab, ends) => tab.lock('f').isLocked(ends),
    'lock.query': (tab, ends) => tab.lock('f').query(ends),
    once: (tab, ends) => tab.once('o', () => 1, ends),
    forget: (tab, ends) => tab.forget('o', ends),
    'leader.call': (tab, ends) => tab.leader('l').call(1, ends),
    'leader.run': (tab, ends) => tab.leader('l').run(() => {}, ends),
    'leader.current': (tab, ends) => tab.leader('l').current(ends),
    enqueue: (tab, ends) => tab.queue('q').enqueue(1, ends),
    'counter.flush': (tab, ends) => (tab.counter('c').add(1), tab.counter('c').flush(ends)),
    'counter.read': (tab, ends) => tab.counter('c').read(ends),
    'counter.flush, batched': (tab, ends) => {
        const counter = tab.counter('d', { strategy: 'batched' });
        counter.add(1).catch(() => {});
        return counter.flush(ends);
    },
    'counter.read, transactional': (tab, ends) => tab.counter('e', { strategy: 'transactional' }).read(ends),
    'sequence.next': (tab, ends) => tab.sequence('n').next(ends),
    'sequence.reserve': (tab, ends) => tab.sequence('n').reserve(5, ends),
    'budget.tryTake': (tab, ends) => tab.budget('b', { limit: 10 }).tryTake(1, ends),
    'budget.give': (tab, ends) => tab.budget('b', { limit: 10 }).give(1, ends),
    'rateLimit.take': (tab, ends) => tab.rateLimit('r', { limit: 1, interval: 9 }).take(ends),
    'rateLimit.tryTake': (tab, ends) => tab.rateLimit('r', { limit: 1, interval: 9 }).tryTake(ends),
};

/**
 * A tab of an origin whose IndexedDB is not answered.
 *
 * @param {'hang-open' | 'hang-transaction'} fault
 * @param {(other: Tab) => Promise<void>} [before] what another tab does before
 */
async function brokenTab(fault, before) {
    const origin = await createOrigin();
    if (before) await before(await open({ window: origin.openTab().window }));
    const page = origin.openTab();
    const { window } = page;
    const early = fault === 'hang-open' ? origin.breakDatabase(page, fault) : undefined;
    const tab = await open({ window });
    const answer = early ?? origin.breakDatabase(page, fault);
    /** Resolves with the error of a call, and with how long it took. @param {Promise<unknown>} call */
    const timed = async (call) => {
        const began = window.performance.now();
        const error = await call.then(
            () => undefined,
            (reason) => reason,
        );
        return { error, ms: window.performance.now() - began };
    };
    const sleep = (/** @type {number} */ ms) => new Promise((resolve) => window.setTimeout(resolve, ms));
    return { origin, page, window, tab, answer, timed, sleep };
}

for (const fault of /** @type {const} */ (['hang-open', 'hang-transaction'])) {
    test(`a timeout of a second ends every call, and close() ends within 5 s: ${fault}`, async () => {
        for (const [name, call] of Object.entries(calls)) {
            const { origin, tab, timed } = await brokenTab(fault);
            const { error, ms } = await timed(call(tab, { timeout: 1_000 }));
            assert.ok(ms >= 1_000 && ms <= 1_000 + slack_ms, `${name}: ${ms} ms`);
            const answered = error === undefined && name === 'lock.acquire, ifAvailable';
            assert.ok(answered || error.name === 'TimeoutError', `${name}: ${error}`);
            const closing = await timed(tab.close());
            assert.ok(closing.ms <= 5_000 + slack_ms, `close() after ${name}: ${closing.ms} ms`);
            origin.close();
        }
    });

    test(`a signal that aborts after a second ends every call with its reason: ${fault}`, async () => {
        for (const [name, call] of Object.entries(calls)) {
            const { origin, window, tab, timed } = await brokenTab(fault);
            const { signal } = abortAfter(window, 1_000);
            const { error, ms } = await timed(call(tab, { signal }));
            assert.ok(ms >= 1_000 && ms <= 1_000 + slack_ms, `${name}: ${ms} ms`);
            assert.equal(error, signal.reason, name);
            origin.close();
        }
    });
}

/**
 * Makes a call while another tab leads and answers, and lets transactions hang from the `phase`-th on that the call begins.
 *
 * @param {(tab: Tab, ends: Ends) => Promise<unknown>} call
 * @param {number} phase from 1
 * @param {Ends} ends
 */
async function callInPhase(call, phase, ends) {
    const origin = await testOrigin();
    const leading = await open({ window: origin.window() });
    void leading
        .leader('l')
        .run((term) => term.answer((request) => request))
        .catch(() => {});
    await origin.until(async () => (await leading.leader('l').current()) !== null);
    const window = origin.window();
    const tab = await open({ window });
    let begun = 0;
    origin.onTransaction = ({ db }) => {
        if (origin.connections.indexOf(db) === origin.connections.length - 1 && ++begun === phase)
            origin.emulated.breakDatabase(origin.pageOf(window), 'hang-transaction');
    };
    const began = window.performance.now();
    const error = await call(tab, ends).then(
        () => undefined,
        (reason) => reason,
    );
    const ms = window.performance.now() - began;
    origin.emulated.close();
    return { error, ms, hung: begun >= phase };
}

test('a timeout of a second ends every call from whichever of its transactions on IndexedDB hangs', async () => {
    /** @type {Record<string, number>} */
    const phases = {};
    for (const [name, call] of Object.entries(calls)) {
        if (name === 'lock.run, fence preferred') continue; // holds the lock for ever once it has it
        for (let phase = 1, hung = true; hung; phase++) {
            const ended = await callInPhase(call, phase, { timeout: 1_000 });
            ({ hung } = ended);
            const { error, ms } = ended;
            assert.ok(ms <= 1_000 + slack_ms, `${name}, transaction ${phase}: ${ms} ms`);
            if (!hung) continue;
            phases[name] = phase;
            assert.ok(!error || error.name === 'TimeoutError' || error.code, `${name}: ${error}`);
        }
    }
    assert.ok((phases.once ?? 0) >= 6 && (phases['leader.call'] ?? 0) >= 6, JSON.stringify(phases));
});

/** The calls that wait for another tab, however well IndexedDB works. */
const unbounded = new Set(['lock.run, fence preferred', 'leader.run']);

/** The bound of a call on a database that does not open: `timeouts.transaction`. */
const opening_ms = 10_000;

/**
 * The bound of a call whose transactions hang: two attempts, each of which is given up after at most 1.25 times
 * `timeouts.transaction`. After the second one every call fails at once.
 */
const twoAttempts_ms = 2 * 12_500;

/** The longest sum of the pauses before a call fails: forget() makes eight attempts. */
const pauses_ms = 700;

/** The codes with which a call fails whose transactions hang. */
const hungCodes = ['store-failed', 'unknown-commit'];

test('a call without options ends within two attempts, whichever of its transactions on IndexedDB hangs', async () => {
    for (const [name, call] of Object.entries(calls)) {
        if (unbounded.has(name)) continue;
        for (let phase = 1, hung = true; hung; phase++) {
            const ended = await callInPhase(call, phase, {});
            ({ hung } = ended);
            const { error, ms } = ended;
            assert.ok(ms <= twoAttempts_ms + pauses_ms, `${name}, transaction ${phase}: ${ms} ms`);
            if (!hung || error === undefined || error.name === 'TimeoutError') continue;
            const expected = name === 'leader.call' && phase > 3 ? ['unknown-commit'] : hungCodes;
            assert.ok(expected.includes(error.code), `${name}, transaction ${phase}: ${error}`);
        }
    }
});

test('a call without options ends within 10 s on a database that does not open', async () => {
    for (const [name, call] of Object.entries(calls)) {
        if (name === 'lock.run, fence preferred') continue;
        const { origin, tab, timed } = await brokenTab('hang-open');
        const { error, ms } = await timed(call(tab, {}));
        assert.ok(ms <= opening_ms + pauses_ms, `${name}: ${ms} ms`);
        assert.ok(!error || error.code === 'store-failed', `${name}: ${error}`);
        origin.close();
    }
});

/** @param {any} window @param {number} ms */
function abortAfter(window, ms) {
    const controller = new AbortController();
    window.setTimeout(() => controller.abort(new Error('enough')), ms);
    return controller;
}

test('the time in which the database opens counts towards the timeout of a call', async () => {
    const { origin, tab, answer, timed, sleep } = await brokenTab('hang-open', async (other) => {
        await other.lock('l').acquire();
    });
    const waiting = timed(tab.lock('l').acquire({ timeout: 4_000 }));
    await sleep(3_000);
    answer();
    const { error, ms } = await waiting;
    assert.equal(error.name, 'TimeoutError');
    assert.ok(ms >= 4_000 && ms <= 4_000 + slack_ms, `${ms} ms`);
    await tab.close();
    origin.close();
});

test('the options of a call end its wait while a file of the package is not answered', async () => {
    for (const [name, call] of Object.entries(calls)) {
        const { origin, page, window, tab, timed } = await brokenTab('hang-transaction');
        const track = Symbol.for('tabacus.track');
        const load = window[track];
        Object.defineProperty(window, track, {
            value: (/** @type {unknown} */ work, /** @type {string} */ what) =>
                what === 'import()' ? new Promise(() => {}) : load(work, what),
        });
        for (const expires of name === 'lock.acquire, ifAvailable' ? [] : [true, false]) {
            const ends = expires ? { timeout: 1_000 } : { signal: abortAfter(window, 1_000).signal };
            const { error, ms } = await timed(call(tab, ends));
            assert.ok(ms >= 1_000 && ms <= 1_000 + slack_ms, `${name}: ${ms} ms`);
            assert.equal(error.name, expires ? 'TimeoutError' : 'Error', name);
        }
        // The hold never begins.
        const [signal, releaseSignal] = [3_000, 1_000].map((ms) => abortAfter(window, ms).signal);
        if (name === 'lock.acquire' && signal && releaseSignal) {
            const { error } = await timed(tab.lock('both').acquire({ signal, releaseSignal }));
            assert.equal(error, releaseSignal.reason);
        }
        page.kill();
        origin.close();
    }
});

test('a grant after the end of its wait is given back', async () => {
    const { origin, tab, answer, timed, sleep } = await brokenTab('hang-transaction');
    const budget = tab.budget('b', { limit: 1 });
    const given = [
        tab.once('o', () => assert.fail('nobody waits for this'), { timeout: 1_000 }),
        tab.lock('l').acquire({ timeout: 1_000 }),
        tab.semaphore('s', 1).acquire({ timeout: 1_000 }),
        budget.tryTake(1, { timeout: 1_000 }),
    ];
    for (const { error } of await Promise.all(given.map(timed))) assert.equal(error?.name, 'TimeoutError');
    answer();
    await sleep(30_000);
    const other = await open({ window: origin.openTab().window });
    assert.equal(await other.once('o', () => 'mine', { timeout: 1_000 }), 'mine');
    assert.ok(await other.lock('l').acquire({ ifAvailable: true }));
    assert.ok(await other.semaphore('s', 1).acquire({ ifAvailable: true }));
    assert.equal(await other.budget('b', { limit: 1 }).tryTake(), true);
    await Promise.all([tab.close(), other.close()]);
    origin.close();
});

test('a signal that aborts while rights are at hand takes them or rejects, and never both', async () => {
    const limit = 400;
    const origin = await createOrigin();
    const { window } = origin.openTab();
    const sleep = (/** @type {number} */ ms) => new Promise((resolve) => window.setTimeout(resolve, ms));
    const tab = await open({ window });
    const other = await open({ window: origin.openTab().window });
    const budget = tab.budget('b', { limit });
    let taken = 0;
    // A long burst leaves rights at hand, which the later calls take without a transaction.
    for (let i = 0; i < 100; i++) taken += Number(await budget.tryTake());
    for (let turns = 0; turns < 8; turns++) {
        const controller = new AbortController();
        const call = budget.tryTake(1, { signal: controller.signal });
        for (let turn = 0; turn < turns; turn++) await undefined;
        controller.abort(new Error('enough'));
        taken += await call.then(Number, (error) => {
            assert.equal(error.message, 'enough');
            return 0;
        });
    }
    await sleep(1_000);
    await tab.close();
    while (await other.budget('b', { limit }).tryTake()) taken++;
    assert.equal(taken, limit);
    await other.close();
    origin.close();
});

test('a value of once() that cannot be stored in time ends the call, although the function has run', async () => {
    const origin = await createOrigin();
    const page = origin.openTab();
    const tab = await open({ window: page.window });
    const began = page.window.performance.now();
    const make = () => void origin.breakDatabase(page, 'hang-transaction');
    await assert.rejects(tab.once('o', make, { timeout: 2_000 }), { name: 'TimeoutError' });
    const ms = page.window.performance.now() - began;
    assert.ok(ms >= 2_000 && ms <= 2_000 + slack_ms, `${ms} ms`);
    origin.close();
});

test('options that end a wait are checked, and an aborted signal begins nothing', async () => {
    const origin = await createOrigin();
    const tab = await open({ window: origin.openTab().window });
    const counter = tab.counter('c');
    for (const ends of [{ timeout: -1 }, { timeout: Infinity }, { signal: /** @type {any} */ ({}) }])
        for (const call of [
            () => counter.flush(ends),
            () => counter.read(ends),
            () => tab.queue('q').enqueue(1, ends),
            () => tab.sequence('n').next(ends),
            () => tab.lock('l').isLocked(ends),
        ])
            await assert.rejects(call, { code: 'invalid-argument' }, `${call}`);
    const signal = AbortSignal.abort(new Error('before'));
    await assert.rejects(tab.queue('q').enqueue(1, { signal }), signal.reason);
    await assert.rejects(tab.sequence('n').next({ signal }), signal.reason);
    assert.equal((await tab.queue('q').jobs()).length, 0);
    assert.equal(await tab.sequence('n').next(), 1);
    await tab.close();
    origin.close();
});

/** The calls that never end by themselves, or fail, on a page where they wait for nothing. */
const endless = new Set([
    'lock.acquire, ifAvailable',
    'lock.run, fence preferred',
    'leader.call',
    'budget.give',
]);

/**
 * Makes a page one that is prerendered in Chromium: Web Locks are not answered, and channels send nothing.
 *
 * @param {any} window
 * @returns {() => void} shows the page
 */
function prerender(window) {
    const { document, navigator } = window;
    const { locks } = navigator;
    const { promise: shown, resolve: show } = withResolvers();
    const { prototype } = window.BroadcastChannel;
    const { postMessage: post, close } = prototype;
    const closed = new WeakSet();
    prototype.close = /** @this {any} */ function () {
        closed.add(this);
        close.call(this);
    };
    Object.defineProperty(document, 'prerendering', { value: true, configurable: true });
    Object.defineProperty(navigator, 'locks', {
        value: {
            request: async (/** @type {any[]} */ ...given) => (await shown, locks.request(...given)),
            query: async () => (await shown, locks.query()),
        },
    });
    window.BroadcastChannel.prototype.postMessage =
        /** @this {any} @param {unknown} message */ async function (message) {
            await shown;
            if (!closed.has(this)) post.call(this, message);
        };
    return () => {
        Object.defineProperty(document, 'prerendering', { value: false });
        show();
        document.dispatchEvent(new Event('prerenderingchange'));
    };
}

function withResolvers() {
    let resolve = () => {};
    const promise = new Promise((done) => (resolve = () => done(undefined)));
    return { promise, resolve };
}

test('a timeout ends every call of a page that is prerendered, and the call succeeds once the page is shown', async () => {
    for (const [name, call] of Object.entries(calls)) {
        const origin = await createOrigin();
        const { window } = origin.openTab();
        const show = prerender(window);
        const tab = await open({ window });
        const began = window.performance.now();
        const error = await call(tab, { timeout: 1_000 }).then(
            () => undefined,
            (reason) => reason,
        );
        const ms = window.performance.now() - began;
        assert.ok(ms <= 1_000 + slack_ms, `${name}: ${ms} ms`);
        assert.ok(
            !error || error.name === 'TimeoutError' || error.code === 'unavailable',
            `${name}: ${error}`,
        );
        show();
        if (!endless.has(name)) await call(tab, {});
        await tab.close();
        origin.close();
    }
});
