/** Sequences, budgets and rate limits over tabs of one process: the public API, its errors, and what it writes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, TabacusError, TabacusRangeError } from 'tabacus';
import { details, FakeOrigin, until } from './fake-origin.js';
import { LockOrigin } from './fake-locks.js';

/** @typedef {import('tabacus').Tab} Tab */

/** @param {string} code */
const failsWith = (code) => (/** @type {any} */ error) =>
    error instanceof TabacusError && error.code === code;

/** @param {number} count @param {object} [without] @param {object} [options] */
async function tabs(count, without = {}, options = {}) {
    const origin = new FakeOrigin();
    const locks = new LockOrigin();
    const windows = Array.from({ length: count }, (_, index) =>
        origin.window({ navigator: { locks: locks.manager(`client ${index}`) }, ...without }),
    );
    const opened = await Promise.all(windows.map((window) => open({ window, ...options })));
    const all = /** @type {[Tab, Tab, Tab]} */ (/** @type {unknown} */ (opened));
    /** Opens one more tab. @param {object} [also] further options */
    const another = (also = {}) =>
        open({
            window: origin.window({ navigator: { locks: locks.manager(`late ${Math.random()}`) }, ...also }),
        });
    return {
        origin,
        windows,
        tabs: all,
        another,
        close: () => Promise.all(opened.map((tab) => tab.close())),
    };
}

const pause = (/** @type {number} */ ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** How many of a number of tries are granted. @param {import('tabacus').Budget} budget @param {number} tries */
async function takes(budget, tries) {
    let taken = 0;
    for (let i = 0; i < tries; i++) taken += Number(await budget.tryTake());
    return taken;
}

test('a sequence gives no number twice over tabs, rises in each tab, and costs a transaction for each block', async () => {
    const { origin, tabs: all, close } = await tabs(3);
    const sequences = all.map((tab) => tab.sequence('s', { block: 10 }));
    let transactions = 0;
    origin.onWrite = (transaction) =>
        void (transactions += Number([...transaction.objectStoreNames].includes('limits')));
    /** @type {number[][]} */
    const got = [[], [], []];
    await Promise.all(
        sequences.map(async (sequence, index) => {
            for (let i = 0; i < 25; i++) got[index]?.push(await sequence.next());
        }),
    );
    for (const mine of got)
        assert.deepEqual(
            mine,
            [...mine].sort((a, b) => a - b),
        );
    assert.equal(new Set(got.flat()).size, 75);
    assert.equal(transactions, 9);
    await close();
});

test('a sequence begins at 1, and goes on where it was after all tabs were closed', async () => {
    const {
        tabs: [a],
        another,
        close,
    } = await tabs(1);
    assert.equal(await a.sequence('s').next(), 1);
    assert.equal(await a.sequence('s').next(), 2);
    assert.equal(await a.sequence('g', { gapless: true }).next(), 1);
    await close();
    const b = await another();
    assert.ok((await b.sequence('s').next()) > 2);
    assert.equal(await b.sequence('g', { gapless: true }).next(), 2);
    await b.close();
});

test('reserve() of a sequence gives a range, also one larger than a block, and concurrent ranges are disjoint', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    const mine = a.sequence('s', { block: 5 });
    const ranges = await Promise.all([
        mine.reserve(3),
        mine.reserve(50),
        b.sequence('s', { block: 5 }).reserve(4),
        mine.reserve(1),
    ]);
    for (const [index, size] of [3, 50, 4, 1].entries()) {
        assert.equal(Number(ranges[index]?.last) - Number(ranges[index]?.first) + 1, size);
    }
    const numbers = ranges.flatMap(({ first, last }) =>
        Array.from({ length: last - first + 1 }, (_, at) => first + at),
    );
    assert.equal(new Set(numbers).size, 58);
    assert.ok((await mine.next()) > Number(ranges[3]?.last));
    await close();
});

test('a gapless sequence leaves out no number, over tabs', async () => {
    const { tabs: all, close } = await tabs(3);
    const got = await Promise.all(
        Array.from({ length: 30 }, (_, i) => all[i % 3]?.sequence('s', { gapless: true }).next()),
    );
    assert.deepEqual(
        got.map(Number).sort((a, b) => a - b),
        Array.from({ length: 30 }, (_, i) => i + 1),
    );
    await close();
});

test('a sequence gives no number again after its database is lost, and emits `storelost`', async () => {
    const {
        origin,
        tabs: [a],
        another,
        close,
    } = await tabs(1);
    const before = new Set();
    for (let i = 0; i < 20; i++) before.add(await a.sequence('s', { block: 8 }).next());
    await origin.records('default', 'limits', (store) => store.clear());
    const b = await another();
    const lost = details(b, 'storelost');
    for (let i = 0; i < 20; i++) {
        for (const tab of [a, b]) {
            const number = await tab.sequence('s', { block: 8 }).next();
            assert.ok(!before.has(number), `${number} again`);
            before.add(number);
        }
    }
    await until(() => lost.length === 1);
    await b.close();
    await close();
});

test('a budget is never overspent by tabs that compete, and all of it can be spent', async () => {
    const { tabs: all, close } = await tabs(3);
    const taken = await Promise.all(all.map((tab) => takes(tab.budget('b', { limit: 1000 }), 500)));
    assert.equal(
        taken.reduce((sum, one) => sum + one, 0),
        1000,
    );
    for (const tab of all) assert.equal(await tab.budget('b', { limit: 1000 }).tryTake(), false);
    await close();
});

test('a burst of takes from a budget needs few transactions', async () => {
    const {
        origin,
        tabs: [a],
        close,
    } = await tabs(1);
    const budget = a.budget('b', { limit: 1_000_000 });
    await budget.tryTake();
    let transactions = 0;
    origin.onWrite = () => void transactions++;
    assert.equal(await takes(budget, 10_000), 10_000);
    assert.ok(transactions < 100, `${transactions} transactions`);
    await close();
});

test('an amount given back to a budget can be taken by any tab, and `available` follows', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    const mine = a.budget('b', { limit: 10 });
    const theirs = b.budget('b', { limit: 10 });
    assert.equal(mine.available, 10);
    assert.equal(await mine.tryTake(7), true);
    assert.equal(mine.available, 3);
    await until(() => theirs.available === 3);
    assert.equal(await theirs.tryTake(4), false);
    assert.equal(await theirs.tryTake(11), false);
    await mine.give(2);
    assert.equal(await theirs.tryTake(4), true);
    await assert.rejects(mine.give(20), (error) => error instanceof TabacusRangeError);
    assert.equal(await theirs.tryTake(), true);
    assert.equal(await theirs.tryTake(), false);
    await close();
});

test('the rights to a budget that a tab holds come back when it closes, hides or dies', async () => {
    const {
        windows,
        tabs: [a, b, c],
        another,
        close,
    } = await tabs(3);
    const limit = 300;
    for (const tab of [a, b, c]) assert.equal(await takes(tab.budget('b', { limit }), 50), 50);
    await a.close();
    windows[1]?.page('pagehide');
    await pause(30);
    const d = await another();
    assert.equal(await takes(d.budget('b', { limit }), 151), 150);
    windows[1]?.page('pageshow');
    assert.equal(await b.budget('b', { limit }).tryTake(), false);
    await d.close();
    await close();
});

test('nothing can be spent of a budget that vanished with its database, and `storelost` is emitted', async () => {
    const {
        origin,
        tabs: [a],
        another,
        close,
    } = await tabs(1);
    assert.equal(await a.budget('b', { limit: 10 }).tryTake(4), true);
    await pause(30);
    await origin.records('default', 'limits', (store) => store.clear());
    const b = await another();
    const lost = details(b, 'storelost');
    assert.equal(await b.budget('b', { limit: 10 }).tryTake(), false);
    await until(() => lost.length === 1);
    await b.budget('b', { limit: 10 }).give(3);
    assert.equal(await b.budget('b', { limit: 10 }).tryTake(3), true);
    assert.equal(await b.budget('new', { limit: 10 }).tryTake(10), true);
    await b.close();
    await close();
});

test('a rate limit grants at most the limit in a window, over tabs, and waiting takes go on in time', async () => {
    const { tabs: all, close } = await tabs(3);
    const limit = 4;
    const interval = 120;
    const began = performance.now();
    /** @type {number[]} */
    const resolved_ms = [];
    await Promise.all(
        all.map(async (tab) => {
            for (let i = 0; i < 5; i++) {
                await tab.rateLimit('r', { limit, interval }).take();
                resolved_ms.push(performance.now());
            }
        }),
    );
    assert.equal(resolved_ms.length, 15);
    // A take may resolve late, if this process is held up, but never early, so that no two of them are compared.
    resolved_ms.forEach((when, index) => {
        const windows = Math.floor(index / limit);
        assert.ok(when - began >= windows * interval - 1, `${when - began} ms for ${windows} windows`);
    });
    await close();
});

test('tryTake() of a rate limit does not wait, and `timeout` and `signal` end the wait of take()', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    const options = { limit: 2, interval: 60_000 };
    assert.equal(await a.rateLimit('r', options).tryTake(), true);
    assert.equal(await b.rateLimit('r', options).tryTake(), true);
    assert.equal(await a.rateLimit('r', options).tryTake(), false);
    await assert.rejects(
        a.rateLimit('r', options).take({ timeout: 5 }),
        (error) => error instanceof DOMException && error.name === 'TimeoutError',
    );
    const controller = new AbortController();
    const waiting = b.rateLimit('r', options).take({ signal: controller.signal });
    controller.abort(new Error('enough'));
    await assert.rejects(waiting, /enough/);
    const closing = assert.rejects(b.rateLimit('r', options).take(), failsWith('closed'));
    await pause(10);
    await close();
    await closing;
});

test('a take below the rate limit is granted, however short its timeout, unless it is aborted before', async () => {
    // A timer below 1 ms fires before the store answers.
    const soon = (/** @type {() => void} */ done, /** @type {number} */ ms) =>
        ms < 1 ? void Promise.resolve().then(done) : setTimeout(done, ms);
    const {
        tabs: [a, b],
        close,
    } = await tabs(2, { setTimeout: soon });
    const options = { limit: 6, interval: 60_000 };
    const timedOut = (/** @type {any} */ error) =>
        error instanceof DOMException && error.name === 'TimeoutError';
    for (const tab of [a, b]) {
        for (const timeout of [0, 0.001, 0]) await tab.rateLimit('r', options).take({ timeout });
        await assert.rejects(
            tab.rateLimit('r', options).take({ timeout: 0, signal: AbortSignal.abort('first') }),
            (why) => String(why) === 'first',
        );
    }
    for (const timeout of [0, 0.001])
        await assert.rejects(b.rateLimit('r', options).take({ timeout }), timedOut);
    const controller = new AbortController();
    const late = a.rateLimit('r', options).take({ timeout: 0, signal: controller.signal });
    await Promise.resolve();
    controller.abort('late');
    await assert.rejects(late, (why) => String(why) === 'late');
    await close();
    await assert.rejects(a.rateLimit('r', options).take({ timeout: 0 }), failsWith('closed'));
});

test('a clock that is a year ahead or behind lets no call of a rate limit through early', async () => {
    const year_ms = 365 * 24 * 3_600_000;
    const {
        tabs: [a],
        another,
        close,
    } = await tabs(1);
    const options = { limit: 2, interval: 60_000 };
    await a.rateLimit('r', options).take();
    await a.rateLimit('r', options).take();
    for (const offset_ms of [year_ms, -year_ms]) {
        const b = await another({ Date: { now: () => Date.now() + offset_ms } });
        assert.equal(await b.rateLimit('r', options).tryTake(), false);
        await b.close();
    }
    await close();
    const late = await another({ Date: { now: () => Date.now() - year_ms } });
    assert.equal(await late.rateLimit('r', options).tryTake(), false);
    await late.close();
});

test('a record of a limit that cannot be read is quarantined, and the limit counts as used up', async () => {
    const {
        origin,
        tabs: [a],
        close,
    } = await tabs(1);
    const warnings = details(a, 'warning');
    for (const key of ['sequence/s', 'budget/b', 'rate/r']) {
        await origin.records('default', 'limits', (store) => store.put('nonsense', key));
    }
    assert.ok((await a.sequence('s').next()) > 1e15);
    assert.equal(await a.budget('b', { limit: 5 }).tryTake(), false);
    assert.equal(await a.rateLimit('r', { limit: 5, interval: 1000 }).tryTake(), false);
    await until(() => warnings.length === 3);
    assert.deepEqual(await origin.records('default', 'aside', (store) => store.getAllKeys()), [
        'limits/budget/b',
        'limits/rate/r',
        'limits/sequence/s',
    ]);
    await close();
});

test('wrong arguments of limits are refused at once, by name, and calls after close() are refused', async () => {
    const {
        tabs: [a],
        close,
    } = await tabs(1);
    const wrong = /** @type {any} */ (a);
    for (const [call, argument] of /** @type {[() => unknown, string][]} */ ([
        [() => wrong.sequence(''), 'name'],
        [() => wrong.sequence('s', { block: 0 }), 'block'],
        [() => wrong.sequence('s', { gapless: 1 }), 'gapless'],
        [() => wrong.sequence('s', { blocks: 1 }), 'options.blocks'],
        [() => wrong.budget('b', {}), 'limit'],
        [() => wrong.budget('b'), 'options'],
        [() => wrong.budget('b', []), 'options'],
        [() => wrong.budget('b', { limit: -1 }), 'limit'],
        [() => wrong.rateLimit('r', { limit: 1 }), 'interval'],
        [() => wrong.rateLimit('r', { limit: 0, interval: 1 }), 'limit'],
    ])) {
        assert.throws(
            call,
            (/** @type {any} */ error) => error.code === 'invalid-argument' && error.argument === argument,
        );
    }
    assert.ok(Object.is(wrong.budget('none', { limit: -0 }).limit, 0));
    await assert.rejects(wrong.sequence('s').reserve(0), failsWith('invalid-argument'));
    await assert.rejects(wrong.budget('b', { limit: 1 }).tryTake(0.5), failsWith('invalid-argument'));
    await assert.rejects(wrong.budget('b', { limit: 1 }).give('1'), failsWith('invalid-argument'));
    await assert.rejects(
        wrong.rateLimit('r', { limit: 1, interval: 1 }).take({ timeout: -1 }),
        failsWith('invalid-argument'),
    );
    const sequence = a.sequence('s');
    const budget = a.budget('b', { limit: 1 });
    assert.equal(a.sequence('s'), sequence);
    assert.equal(a.budget('b', { limit: 1 }), budget);
    assert.throws(() => a.sequence('s', { gapless: true }), failsWith('kind-mismatch'));
    assert.throws(() => a.budget('b', { limit: 9 }), failsWith('kind-mismatch'));
    assert.throws(() => a.rateLimit('r', { limit: 2, interval: 1 }), failsWith('kind-mismatch'));
    await sequence.next();
    await budget.tryTake();
    await close();
    await assert.rejects(sequence.next(), failsWith('closed'));
    await assert.rejects(budget.tryTake(), failsWith('closed'));
    await assert.rejects(a.rateLimit('r', { limit: 1, interval: 1 }).take(), failsWith('closed'));
});

test('without IndexedDB limits refuse calls, or hold within the page if that was allowed', async () => {
    const {
        tabs: [a],
        close,
    } = await tabs(1, { indexedDB: undefined });
    await assert.rejects(a.sequence('s').next(), failsWith('weaker-guarantee'));
    await close();
    const {
        tabs: [b],
        close: closeB,
    } = await tabs(1, { indexedDB: undefined }, { allowWeaker: true });
    assert.equal(await b.sequence('s').next(), 1);
    assert.equal(await b.budget('b', { limit: 1 }).tryTake(), true);
    assert.equal(await b.budget('b', { limit: 1 }).tryTake(), false);
    assert.equal(await b.rateLimit('r', { limit: 1, interval: 60_000 }).tryTake(), true);
    assert.equal(await b.rateLimit('r', { limit: 1, interval: 60_000 }).tryTake(), false);
    await closeB();
});

test('a call that asks for more numbers than a sequence has left is refused alone', async () => {
    const {
        tabs: [a],
        close,
    } = await tabs(1);
    const sequence = a.sequence('s', { block: 10 });
    const most = Number.MAX_SAFE_INTEGER;
    assert.equal(await sequence.next(), 1);
    const [small, large, next] = await Promise.allSettled([
        sequence.reserve(20),
        sequence.reserve(most),
        sequence.reserve(1),
    ]);
    assert.deepEqual([small.status, large.status, next.status], ['fulfilled', 'rejected', 'fulfilled']);
    assert.ok(/** @type {any} */ (large).reason instanceof TabacusRangeError);
    assert.ok(/** @type {any} */ (next).value.first > /** @type {any} */ (small).value.last);
    await close();
});

test('the states of two devices merge to equal values, in any order, any number of times, and over restarts', async () => {
    const one = await tabs(2);
    const two = await tabs(2);
    const [a, a2] = one.tabs.map((tab) => tab.counter('n'));
    const [b, b2] = two.tabs.map((tab) => tab.counter('n'));
    assert.ok(a && a2 && b && b2);
    a.add(5);
    a2.add(-2);
    await a2.flush();
    b.add(100);
    const carried = JSON.parse(JSON.stringify(await a.state()));
    assert.deepEqual(carried.version, 1);
    const old = await b.state();
    b2.add(7);
    await b2.flush();
    await b.merge(carried);
    await b.merge(carried);
    assert.equal(await b.read(), 110);
    await until(() => b2.value === 110);
    await a.merge(await b.state());
    await a.merge(old);
    assert.equal(await a.read(), 110);
    await until(() => a2.value === 110);
    a.add(1);
    await b.merge(await a.state());
    assert.equal(await b2.read(), 111);
    await two.close();
    const late = await two.another();
    assert.equal(await late.counter('n').read(), 111);
    await late.close();
    await one.close();
});

test('merge() refuses a wrong state as a whole, and accepts counts as strings and as numbers', async () => {
    const {
        tabs: [a],
        close,
    } = await tabs(1);
    const counter = a.counter('n');
    const good = { node: 'x1/0', epoch: '1', plus: 3, minus: '1' };
    for (const state of [
        null,
        {},
        { version: 2, rows: [] },
        { version: 1, rows: 'many' },
        { version: 1, rows: [good, , good] }, // eslint-disable-line no-sparse-arrays -- a missing row is no row
        { version: 1, rows: new Array(3) },
        { version: 1, rows: [good, { ...good, plus: -1 }] },
        { version: 1, rows: [good, { ...good, plus: '007' }] },
        { version: 1, rows: [good, { ...good, node: 'x1' }] },
        { version: 1, rows: [good, { ...good, plus: '99999999999999999999' }] },
    ]) {
        await assert.rejects(
            counter.merge(/** @type {any} */ (state)),
            (/** @type {any} */ error) =>
                failsWith('invalid-argument')(error) &&
                (state === null ? error.argument === 'state' : error.argument.startsWith('state.')) &&
                'value' in error,
        );
    }
    assert.equal(await counter.read(), 0);
    await counter.merge({ version: 1, rows: [good] });
    assert.equal(counter.value, 2);
    const most = Number.MAX_SAFE_INTEGER;
    const large = { node: 'x2/0', epoch: 1, plus: most, minus: 0 };
    await assert.rejects(
        counter.merge({ version: 1, rows: [{ ...good, plus: 4 }, large] }),
        TabacusRangeError,
    );
    assert.equal(await counter.read(), 2);
    await counter.merge({ version: 1, rows: [{ ...large, minus: 2 }] });
    assert.equal(await counter.read(), most);
    const stored = a.counter('n', { strategy: 'transactional' });
    await assert.rejects(stored.state(), failsWith('unavailable'));
    await assert.rejects(stored.merge({ version: 1, rows: [good] }), failsWith('unavailable'));
    await close();
});
