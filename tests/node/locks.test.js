/** Locks over tabs of one process: exclusion, shared holders, waits, re-entry, and tabs without Web Locks. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeadlockError, TabacusError } from 'tabacus';
import { LockManager } from 'tabacus/compat/locks';
import { tabs } from './open-tabs.js';
import { failsWith, isDom } from './expected-errors.js';

/** @typedef {import('tabacus').Tab} Tab */

test('tabs that increment a value under the lock lose nothing, and their tokens rise', async () => {
    const { tabs: all, close, until, origin } = await tabs(3);
    /** @type {number[]} */
    const tokens = [];
    await Promise.all(
        all.map(async (tab) => {
            for (let i = 0; i < 20; i++) {
                await tab.lock('l').run(async (held) => {
                    tokens.push(/** @type {number} */ (held.token));
                    await held.commit('counts', async (tx) => {
                        tx.put('counts', 'n', ((await tx.get('counts', 'n')) ?? 0) + 1);
                    });
                });
            }
        }),
    );
    const total = await all[0].lock('l').run((held) => held.commit('counts', (tx) => tx.get('counts', 'n')));
    assert.equal(total, 60);
    assert.deepEqual(
        tokens,
        [...new Set(tokens)].sort((a, b) => a - b),
    );
    await close();
    await until(async () => (await origin.heldLocks()).length + (await origin.waitingLocks()) === 0);
});

test('locks leave one key in localStorage, however many there are', async () => {
    const {
        origin,
        tabs: [a, b],
        close,
    } = await tabs(2);
    for (let i = 0; i < 10; i++) {
        for (const tab of [a, b])
            await tab.lock(`l${i}`).run((held) => held.commit('s', (tx) => tx.put('s', 'n', i)));
        await a.once(`o${i}`, () => i);
    }
    const token = await a.lock('l0').run((held) => held.token);
    await origin.emulated.settled();
    const kept = Object.entries(origin.localStorage).filter(([key]) => key.includes('lock'));
    assert.deepEqual(
        kept.map(([key]) => key),
        ['tabacus/default/lock-tokens'],
    );
    assert.ok(Number(kept[0]?.[1]) >= Number(token));
    await close();
});

test('run() gives the value or the error of its function, and releases the lock after either', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    assert.equal(await a.lock('l').run(() => 7), 7);
    await assert.rejects(
        a.lock('l').run(() => Promise.reject(new RangeError('mine'))),
        RangeError,
    );
    const seen = await b
        .lock('l')
        .run((held) => [held.name, held.mode, held.held, held.label], { label: 'x' });
    assert.deepEqual(seen, ['l', 'exclusive', true, 'x']);
    await close();
});

test('readers share a lock and a writer is alone, as query(), isLocked(), waitForUnlock() and subscribe() report', async () => {
    const {
        tabs: [a, b, c],
        close,
        until,
    } = await tabs(3);
    const first = await a.lock('l').acquire({ mode: 'shared', label: 'first' });
    const second = await b.lock('l').acquire({ mode: 'shared', label: 'second' });
    assert.ok(first && second);
    assert.equal(first.token, null);
    await assert.rejects(
        first.commit('s', () => {}),
        failsWith('unavailable'),
    );
    /** @type {any[]} */
    const states = [];
    const end = c.lock('l').subscribe((requests) => states.push(requests.map(({ label }) => label)));
    const writer = b.lock('l').acquire({ label: 'writer' });
    await until(() => states.length > 0);
    const requests = await c.lock('l').query();
    assert.deepEqual(
        requests.map(({ state, mode, label }) => [state, mode, label]),
        [
            ['held', 'shared', 'first'],
            ['held', 'shared', 'second'],
            ['waiting', 'exclusive', 'writer'],
        ],
    );
    assert.equal(await c.lock('l').isLocked(), true);
    assert.equal(await c.lock('other').isLocked(), false);
    await assert.rejects(c.lock('l').waitForUnlock({ timeout: 5 }), isDom('TimeoutError'));
    first.release();
    second.release();
    const held = await writer;
    assert.equal(held?.held, true);
    const unlocked = c.lock('l').waitForUnlock();
    held?.release();
    await unlocked;
    assert.ok(states.length > 1);
    end();
    await close();
});

test('a wait ends by its timeout, or by its signal with the reason, and an ifAvailable request does not wait', async () => {
    const {
        tabs: [a, b],
        close,
        until,
        sleep,
        origin,
    } = await tabs(2);
    const held = await a.lock('l').acquire();
    await assert.rejects(
        b.lock('l').run(() => {}, { timeout: 5 }),
        isDom('TimeoutError'),
    );
    const controller = new AbortController();
    const waiting = b.lock('l').run(() => {}, { signal: controller.signal });
    await sleep(1);
    controller.abort(new RangeError('enough'));
    await assert.rejects(waiting, RangeError);
    await assert.rejects(
        b.lock('l').run(() => {}, { signal: AbortSignal.abort() }),
        isDom('AbortError'),
    );
    assert.equal(await b.lock('l').run((lock) => lock, { ifAvailable: true }), null);
    assert.equal(await a.lock('l').run((lock) => lock, { ifAvailable: true }), null);
    assert.equal(await a.lock('l').acquire({ ifAvailable: true, mode: 'shared' }), null);
    await until(async () => (await origin.waitingLocks()) === 0);
    held?.release();
    assert.notEqual(await b.lock('l').run((lock) => lock, { ifAvailable: true }), null);
    await close();
});

test('a lock is re-entered by `within`, and a cycle over tabs ends in one DeadlockError', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    await a.lock('l').run(async (outer) => {
        const inner = await a.lock('l').acquire({ within: outer });
        assert.equal(inner?.token, outer.token);
        inner?.release();
        const shared = await a.lock('l').acquire({ within: outer, mode: 'shared' });
        assert.deepEqual(
            [shared.mode, shared.token],
            ['exclusive', outer.token],
            'a nested shared request has the mode of the outer hold',
        );
        shared.release();
        assert.equal(outer.held, true);
    });
    const x = await a.lock('x').acquire();
    const y = await b.lock('y').acquire();
    assert.ok(x && y);
    /**
     * @param {Tab} tab
     * @param {string} wanted
     * @param {import('tabacus').Held} within
     */
    const nest = async (tab, wanted, within) => {
        try {
            await tab.lock(wanted).run(() => {}, { within, label: `${within.name} then ${wanted}` });
        } finally {
            within.release();
        }
    };
    const outcomes = await Promise.allSettled([nest(a, 'y', x), nest(b, 'x', y)]);
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    const { reason } = /** @type {PromiseRejectedResult} */ (refused[0]);
    assert.ok(reason instanceof DeadlockError && reason instanceof TabacusError);
    assert.match(reason.message, /'x then y' waits for 'y'/);
    assert.equal(refused.length, 1);
    assert.deepEqual(await b.lockAll(['y', 'x'], (held) => held.map(({ name }) => name)), ['y', 'x']);
    await close();
});

test('repeated runs of one tab make few requests to the browser, until another tab wants the lock', async () => {
    const {
        tabs: [a, b],
        windows: [window],
        close,
    } = await tabs(2);
    const { locks } = window.navigator;
    const { request } = locks;
    let requests = 0;
    locks.request = (/** @type {any[]} */ ...given) => (++requests, request.apply(locks, given));
    await a.lock('l').run(() => {});
    const before = requests;
    for (let i = 0; i < 200; i++) await a.lock('l').run(() => {});
    assert.ok(requests - before < 40, `${requests - before} requests`);
    await b.lock('l').run(() => {});
    await close();
});

test('without Web Locks a lease excludes, and without IndexedDB, too, a lock requires allowWeaker', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2, { navigator: {} });
    let inside = 0;
    const enter = async (/** @type {any} */ tab) =>
        tab.lock('l').run(async (/** @type {any} */ held) => {
            assert.equal(++inside, 1);
            await held.commit('s', async (/** @type {any} */ tx) =>
                tx.put('s', 'n', ((await tx.get('s', 'n')) ?? 0) + 1),
            );
            inside--;
        });
    await Promise.all([enter(a), enter(b), enter(a), enter(b)]);
    assert.equal(await a.lock('l').run((held) => held.commit('s', (tx) => tx.get('s', 'n'))), 4);
    await close();

    const bare = await tabs(1, { navigator: {}, indexedDB: undefined });
    await assert.rejects(
        bare.tabs[0].lock('l').run(() => {}),
        failsWith('weaker-guarantee'),
    );
    await bare.close();
    const allowed = await tabs(1, { navigator: {}, indexedDB: undefined }, { allowWeaker: true });
    assert.equal(await allowed.tabs[0].lock('l').run(() => 3), 3);
    await allowed.close();
});

test('without Web Locks query() of every tab has the holders and waiters of all tabs, in order', async () => {
    const { tabs: all, close, until, sleep } = await tabs(3, { navigator: {} });
    const [a, b, c] = /** @type {[LockManager, LockManager, LockManager]} */ (
        all.map((tab) => new LockManager(tab))
    );
    /** @type {(() => void)[]} */
    const ends = [];
    /** @param {LockManager} of @param {string} name @param {'exclusive' | 'shared'} mode */
    const hold = (of, name, mode) =>
        of.request(name, { mode }, () => new Promise((resolve) => ends.push(() => resolve(undefined))));
    const held = [hold(a, 'x', 'exclusive')];
    await until(() => ends.length === 1);
    held.push(hold(b, 'y\ud800', 'shared'));
    await until(() => ends.length === 2);
    const waiting = [hold(c, 'x', 'shared')];
    while ((await b.query()).pending.length < 1);
    waiting.push(hold(b, 'x', 'exclusive'));
    while ((await a.query()).pending.length < 2);
    const ids = (await Promise.all([a, b].map((of) => of.query()))).map(({ held: [one] }) => one?.clientId);
    assert.equal(ids[0], ids[1]);
    for (const of of [a, b, c]) {
        const found = await of.query();
        assert.deepEqual(
            found.held.map(({ name, mode }) => [name, mode]),
            [
                ['x', 'exclusive'],
                ['y\ud800', 'shared'],
            ],
        );
        assert.deepEqual(
            found.pending.map(({ name, mode }) => [name, mode]),
            [
                ['x', 'shared'],
                ['x', 'exclusive'],
            ],
        );
        assert.equal(found.pending[1]?.clientId, found.held[1]?.clientId);
        assert.deepEqual(Object.keys(found.held[0] ?? {}), ['name', 'mode', 'clientId']);
        assert.equal(new Set([...found.held, ...found.pending].map(({ clientId }) => clientId)).size, 3);
    }
    while (ends.length < 4) {
        for (const end of ends) end();
        await sleep(1);
    }
    for (const end of ends) end();
    await Promise.all([...held, ...waiting]);
    while ((await c.query()).held.length > 0);
    await close();
});
