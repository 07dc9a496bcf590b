/** Locks over tabs of one process: the public API, its errors, and what it writes. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DeadlockError, open, TabacusError } from 'tabacus';
import { LockManager } from 'tabacus/compat/locks';
import { isSignal } from '../../js/common/check-arguments.js';
import { details, FakeOrigin, until } from './fake-origin.js';
import { LockOrigin } from './fake-locks.js';

/** @typedef {import('tabacus').Tab} Tab */

/** @param {string} code */
const failsWith = (code) => (/** @type {any} */ error) =>
    error instanceof TabacusError && error.code === code;

/** @param {string} name of a DOMException */
const throwsDom = (name) => (/** @type {any} */ error) =>
    error instanceof DOMException && error.name === name;

/**
 * @param {number} count
 * @param {object} [without]
 * @param {object} [options]
 */
async function tabs(count, without = {}, options = {}) {
    const origin = new FakeOrigin();
    const locks = new LockOrigin();
    const windows = Array.from({ length: count }, (_, index) =>
        origin.window({ navigator: { locks: locks.manager(`client ${index}`) }, ...without }),
    );
    const opened = await Promise.all(windows.map((window) => open({ window, ...options })));
    // The tuple type has three tabs, but there are `count` of them.
    const all = /** @type {[Tab, Tab, Tab]} */ (/** @type {unknown} */ (opened));
    return { origin, locks, windows, tabs: all, close: () => Promise.all(opened.map((tab) => tab.close())) };
}

const tick = () => new Promise((resolve) => setTimeout(resolve, 1));

test('tabs that increment a value under the lock lose nothing, and their tokens rise', async () => {
    const { tabs: all, locks, close } = await tabs(3);
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
    await until(() => locks.held.length === 0 && locks.queue.length === 0);
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
    const kept = [...origin.area].filter(([key]) => key.includes('lock'));
    assert.deepEqual(
        kept.map(([key]) => key),
        ['tabacus/default/lock-tokens'],
    );
    assert.ok(Number(kept[0]?.[1]) >= Number(token));
    await close();
});

test('an AbortSignal of another realm is accepted, and an object that only looks like one is not', () => {
    assert.equal(isSignal(Object.setPrototypeOf(new AbortController().signal, {})), true);
    for (const bad of [{ aborted: true }, () => {}, 7, null]) assert.equal(isSignal(bad), false);
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
    await assert.rejects(c.lock('l').waitForUnlock({ timeout: 5 }), throwsDom('TimeoutError'));
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
        locks,
        close,
    } = await tabs(2);
    const held = await a.lock('l').acquire();
    await assert.rejects(
        b.lock('l').run(() => {}, { timeout: 5 }),
        throwsDom('TimeoutError'),
    );
    const controller = new AbortController();
    const waiting = b.lock('l').run(() => {}, { signal: controller.signal });
    await tick();
    controller.abort(new RangeError('enough'));
    await assert.rejects(waiting, RangeError);
    await assert.rejects(
        b.lock('l').run(() => {}, { signal: AbortSignal.abort() }),
        throwsDom('AbortError'),
    );
    assert.equal(await b.lock('l').run((lock) => lock, { ifAvailable: true }), null);
    assert.equal(await a.lock('l').run((lock) => lock, { ifAvailable: true }), null);
    assert.equal(await a.lock('l').acquire({ ifAvailable: true, mode: 'shared' }), null);
    await until(() => locks.queue.length === 0);
    held?.release();
    assert.notEqual(await b.lock('l').run((lock) => lock, { ifAvailable: true }), null);
    await close();
});

test('wrong and conflicting options are refused as Web Locks and the types specify', async () => {
    const {
        tabs: [a],
        close,
    } = await tabs(1);
    const lock = a.lock('l');
    const run = (/** @type {any} */ options) => lock.run(() => {}, options);
    assert.throws(() => a.lock(''), failsWith('invalid-argument'));
    for (const bad of [
        { mode: 'x' },
        { timeout: -1 },
        { maxHold: 0 },
        { label: 7 },
        { within: {} },
        { steals: true },
        7,
    ]) {
        await assert.rejects(run(bad), failsWith('invalid-argument'), JSON.stringify(bad));
    }
    const { signal } = new AbortController();
    for (const both of [
        { steal: true, ifAvailable: true },
        { steal: true, mode: 'shared' },
        { steal: true, signal },
        { ifAvailable: true, signal },
    ]) {
        await assert.rejects(run(both), throwsDom('NotSupportedError'), JSON.stringify(both));
    }
    await assert.rejects(
        a.lockAll(['x', 'x'], () => {}),
        failsWith('invalid-argument'),
    );
    await close();
});

test('a previous holder is notified of a steal, its run() rejects, and its commits are refused', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    /** @type {any} */
    let previous;
    const rejected = assert.rejects(
        a.lock('l').run(async (held) => {
            previous = held;
            await new Promise(() => {});
        }),
        failsWith('lock-lost'),
    );
    await until(() => previous);
    const stealer = await b.lock('l').acquire({ steal: true });
    await rejected;
    assert.equal(previous.signal.aborted, true);
    assert.throws(() => previous.assertHeld(), failsWith('lock-lost'));
    await assert.rejects(
        previous.commit('s', () => {}),
        failsWith('lock-lost'),
    );
    assert.ok(Number(stealer?.token) > previous.token);
    await stealer?.commit('s', (tx) => tx.put('s', 'k', { deep: [1, null] }));
    await close();
});

test('a holder that blocks its thread for longer than maxHold has lost the lock', async () => {
    const {
        tabs: [a],
        close,
    } = await tabs(1);
    const warnings = details(a, 'warning');
    const stall = () => {
        const until_ms = performance.now() + 30;
        while (performance.now() < until_ms);
    };
    const lost = failsWith('lock-lost');
    const lock = a.lock('l');
    await assert.rejects(lock.run(stall, { maxHold: 20 }), lost);
    await assert.rejects(
        lock.run(async () => stall(), { maxHold: 20 }),
        lost,
    );
    await assert.rejects(
        a.lockAll(['l', 'm'], async () => stall(), { maxHold: 20 }),
        lost,
    );
    await assert.rejects(a.once('o', stall, { maxHold: 20 }), lost);
    const outer = await lock.acquire({ maxHold: 20 });
    const inner = await lock.acquire({ within: outer, maxHold: 60_000 });
    stall();
    for (const held of [outer, inner]) {
        assert.throws(() => held.assertHeld(), lost);
        assert.equal(held.held, false);
        assert.equal(held.signal.aborted, true);
        held.release();
    }
    assert.equal(await lock.run(() => (stall(), 'no limit')), 'no limit');
    // A released lock, or one of another kind, is not re-entered, and its maxHold does not apply.
    await a
        .semaphore('l', 1)
        .run((permit) => (stall(), permit.assertHeld()), { within: outer, maxHold: 60_000 });
    await lock.run((held) => (stall(), held.assertHeld()), { within: outer, maxHold: 60_000 });
    assert.ok(warnings.some(({ code }) => code === 'max-hold'));
    await close();
});

test('a forgotten hold ends after maxHold, with a warning', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    const warnings = details(a, 'warning');
    const forgotten = await a.lock('l').acquire({ maxHold: 20, label: 'forgotten' });
    await b.lock('l').run(() => {});
    assert.equal(forgotten?.signal.aborted, true);
    await until(() => warnings.length > 0);
    assert.equal(warnings[0].code, 'max-hold');
    await close();
});

test('an exception in the function of a commit undoes all of it, and a commit reads its own writes', async () => {
    const {
        tabs: [a],
        close,
    } = await tabs(1);
    await a.lock('l').run(async (held) => {
        await held.commit(['s', 't'], (tx) => {
            tx.put('s', 'a/1', 1);
            tx.put('s', 'a/2', 2);
            tx.put('t', 'a/1', 'other');
        });
        await assert.rejects(
            held.commit('s', (tx) => {
                tx.put('s', 'a/1', 'lost');
                throw new RangeError('mine');
            }),
            RangeError,
        );
        await held.commit('s', async (tx) => {
            tx.delete('s', 'a/2');
            tx.put('s', 'a/3', 3);
            assert.deepEqual(await tx.list('s', 'a/'), [
                ['a/1', 1],
                ['a/3', 3],
            ]);
            assert.equal(await tx.get('s', 'a/2'), undefined);
            await assert.rejects(tx.get('t', 'a/1'), failsWith('invalid-argument'));
            assert.throws(() => tx.put('s', 'k', undefined), failsWith('invalid-argument'));
        });
        assert.deepEqual(await held.commit('s', (tx) => tx.list('s')), [
            ['a/1', 1],
            ['a/3', 3],
        ]);
    });
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
        locks,
        close,
    } = await tabs(2);
    await a.lock('l').run(() => {});
    const before = locks.requests;
    for (let i = 0; i < 200; i++) await a.lock('l').run(() => {});
    assert.ok(locks.requests - before < 40, `${locks.requests - before} requests`);
    await b.lock('l').run(() => {});
    await close();
});

test('pagehide notifies the holder and releases its lock, and after pageshow the tab locks again', async () => {
    const {
        tabs: [a, b],
        locks,
        windows,
        close,
    } = await tabs(2);
    const held = await a.lock('l').acquire();
    windows[0]?.page('pagehide');
    assert.equal(held?.signal.aborted, true);
    await until(() => locks.held.length === 0);
    await b.lock('l').run(() => {});
    windows[0]?.page('pageshow');
    assert.equal(await a.lock('l').run(() => 1), 1);
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
    const { tabs: all, close } = await tabs(3, { navigator: {} });
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
        await tick();
    }
    for (const end of ends) end();
    await Promise.all([...held, ...waiting]);
    while ((await c.query()).held.length > 0);
    await close();
});

test('closing a tab rejects its waiting requests, releases its locks, and leaves no native lock', async () => {
    const {
        tabs: [a, b],
        locks,
        close,
    } = await tabs(2);
    const held = await a.lock('l').acquire();
    const waiting = b.lock('l').run(() => {});
    await tick();
    await Promise.all([assert.rejects(waiting, failsWith('closed')), b.close()]);
    await a.close();
    assert.equal(held?.held, false);
    await assert.rejects(
        a.lock('l').run(() => {}),
        failsWith('closed'),
    );
    await until(() => locks.held.length === 0 && locks.queue.length === 0);
    await close();
});

test('values of a commit and of once() are kept by structured clone', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    const value = {
        at: new Date(5),
        map: new Map([['k', new Set([1n])]]),
        bytes: new Uint8Array([1, 2]),
        none: undefined,
    };
    await a.lock('l').run((held) =>
        held.commit('s', async (tx) => {
            tx.put('s', 'v', value);
            value.bytes[0] = 9; // a change after put() is not kept
            assert.deepEqual((await tx.get('s', 'v')).bytes, new Uint8Array([1, 2]));
            assert.throws(() => tx.put('s', 'v', () => {}), failsWith('invalid-argument'));
            assert.throws(() => tx.put('s', 'v', undefined), failsWith('invalid-argument'));
        }),
    );
    const kept = { ...value, bytes: new Uint8Array([1, 2]) };
    await b.lock('l').run((held) =>
        held.commit('s', async (tx) => {
            assert.deepEqual(await tx.get('s', 'v'), kept);
            assert.deepEqual(await tx.list('s'), [['v', kept]]);
            assert.equal(await tx.get('s', 'nothing'), undefined);
        }),
    );
    assert.deepEqual(await a.once('v', () => value), value);
    assert.deepEqual(await b.once('v', () => 0, { ttl: 60_000 }), value);
    assert.equal(await a.once('u', () => undefined), undefined);
    assert.equal(await b.once('u', () => 0, { ttl: 60_000 }), undefined);
    await assert.rejects(
        a.once('f', () => () => {}),
        failsWith('invalid-argument'),
    );
    await close();
});

test('once() runs in one tab, all get its value or its error, a ttl keeps the value, and a dead runner is replaced', async () => {
    const {
        tabs: [a, b, c],
        close,
    } = await tabs(3);
    let runs = 0;
    const make = async () => {
        await tick();
        return { run: ++runs };
    };
    // All six calls are made before the first run has finished.
    const held = await c.lock('once/k').acquire();
    const calls = [a, b, c, a, b, c].map((tab) => tab.once('k', make));
    while ((await c.lock('once/k').query()).length < 7);
    held?.release();
    assert.deepEqual(await Promise.all(calls), Array(6).fill({ run: 1 }));
    assert.deepEqual(await b.once('k', make), { run: 2 });
    assert.deepEqual(await a.once('k', make, { ttl: 60_000 }), { run: 2 });
    await assert.rejects(
        a.once('k', () => Promise.reject(new RangeError('mine'))),
        RangeError,
    );
    assert.deepEqual(await a.once('k', make, { ttl: 60_000 }), { run: 3 });

    let began = false;
    const never = () => {
        began = true;
        return new Promise(() => {});
    };
    const stuck = assert.rejects(a.once('dead', never), failsWith('lock-lost'));
    await until(() => began);
    const next = b.once('dead', () => 'other');
    await a.close();
    await stuck;
    assert.equal(await next, 'other');
    await close();
});

test('arguments are checked before anything is done, and no mistake keeps a lock', async () => {
    const {
        tabs: [tab],
        close,
    } = await tabs(1);
    const a = /** @type {any} */ (tab);
    const nothing = () => {};
    /** @type {[argument: string, refused: () => unknown][]} */
    const mistakes = [
        ['use', () => a.lock('l').run()],
        ['use', () => a.lockAll(['l', 'm'])],
        ['use', () => a.semaphore('s', 1).run(5)],
        ['make', () => a.once('o')],
        ['lead', () => a.leader('e').run()],
        ['mutate', () => a.serial('m', 0).set(1)],
        ['listener', async () => a.lock('l').subscribe()],
        ['listener', async () => a.leader('l').subscribe(null)],
        ['listener', async () => a.serial('m', 0).subscribe({})],
        ['names', () => a.lockAll('lm', nothing)],
        ['names', () => a.lockAll(undefined, nothing)],
        ['names', () => a.lockAll(new Set(['l', 'm']), nothing)],
        ['label', () => a.lock('l').run(nothing, { label: null })],
        ['options.mode', () => a.leader('e').run(nothing, { mode: 'shared' })],
        ['options.mode', () => a.leader('e').lead({ mode: 'shared' })],
        ['options.ifAvailable', () => a.leader('e').run(nothing, { ifAvailable: true })],
        ['options.mode', () => a.serial('m', 0).set(1, nothing, { mode: 'shared' })],
    ];
    for (const [argument, refused] of mistakes) {
        await assert.rejects(
            async () => refused(),
            (error) =>
                failsWith('invalid-argument')(error) && /** @type {any} */ (error).argument === argument,
            argument,
        );
    }
    // A later change of an argument has no effect either.
    const [names, options] = [['l', 'm'], { label: 'before' }];
    const asked = [
        a.lockAll(names, (/** @type {any} */ held) => held.length),
        a.lock('l').run((/** @type {any} */ held) => held.label, options),
    ];
    names.push('');
    options.label = 'after';
    assert.deepEqual(await Promise.all(asked), [2, 'before']);
    const longest = '\u{1F600}'.repeat(64);
    assert.equal(await a.leader(longest).run(() => 'led'), 'led');
    assert.equal(await a.serial(longest, 0).set(1, () => 'set'), 'set');
    assert.throws(
        () => a.leader(`${longest}!`),
        (error) => /** @type {any} */ (error).value === `${longest}!`,
    );
    // Values that a function returns or throws keep no lock either, even if reading their properties throws.
    const hostile = {
        get message() {
            throw new Error('hostile');
        },
        get then() {
            throw new Error('hostile');
        },
    };
    const failsHostile = (/** @type {any} */ error) => error.message === 'hostile';
    await assert.rejects(
        a.lock('l').run(() => hostile),
        failsHostile,
    );
    await assert.rejects(
        a.once('o', () => hostile),
        failsHostile,
    );
    for (const thrown of [hostile, Object.create(null), { name: nothing, message: Symbol('m') }]) {
        /** @type {unknown} */
        let caught;
        await a
            .once('o', () => Promise.reject(thrown))
            .catch((/** @type {unknown} */ error) => void (caught = error));
        assert.ok(caught === thrown);
    }
    assert.equal(await a.once('o', () => 'again', { timeout: 5000 }), 'again');
    assert.equal(await a.lock('l').run(() => 'free', { timeout: 5000 }), 'free');
    const controller = new AbortController();
    await a.lock('l').run(() => {
        const waiting = a.lock('l').run(nothing, { signal: controller.signal });
        controller.abort(null);
        return assert.rejects(waiting, (error) => error === null);
    });
    await close();
});

test('a commit rejects if the browser has ended its transaction, and writes nothing', async () => {
    const {
        tabs: [a],
        close,
    } = await tabs(1);
    await a.lock('l').run(async (held) => {
        /** @type {any} */
        let kept;
        const late = held.commit('s', async (tx) => {
            kept = tx;
            tx.put('s', 'k', 'late');
            await new Promise((resolve) => setTimeout(resolve, 20));
        });
        await assert.rejects(late, failsWith('store-failed'));
        await held.commit('s', (tx) => void (kept = tx));
        assert.throws(() => kept.put('s', 'k', 1), failsWith('closed'));
        await assert.rejects(kept.get('s', 'k'), failsWith('closed'));
        assert.equal(await held.commit('s', (tx) => tx.get('s', 'k')), undefined);
    });
    await close();
});

test('an error of once() arrives in all tabs with its name and code, and without IndexedDB once() is unavailable', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    await Promise.all([a.once('warm', () => 1), b.once('warm', () => 1)]); // this loads the modules
    for (const thrown of [
        new DOMException('gone', 'AbortError'),
        Object.assign(new RangeError('far'), { code: 'FAR' }),
        Object.assign(new Error('not found'), { code: 404 }),
        new TabacusError('closed', 'shut'),
    ]) {
        let calls = 0;
        const make = async () => {
            calls++;
            for (let turns = 0; turns < 5; turns++) await tick(); // the other tab calls meanwhile
            throw thrown;
        };
        for (const { reason } of /** @type {PromiseRejectedResult[]} */ (
            await Promise.allSettled([a.once('k', make), b.once('k', make)])
        )) {
            assert.ok(reason instanceof Error);
            assert.deepEqual([reason.name, reason.message], [thrown.name, thrown.message]);
            assert.equal(/** @type {any} */ (reason).code, thrown.code);
            assert.ok(reason instanceof thrown.constructor, `${reason}`);
            assert.equal(reason instanceof TabacusError, thrown instanceof TabacusError);
        }
        assert.equal(calls, 1);
    }
    await close();
    const without = await tabs(1, { indexedDB: undefined }, { allowWeaker: true });
    await assert.rejects(
        without.tabs[0].once('k', () => 1),
        failsWith('unavailable'),
    );
    await assert.rejects(without.tabs[0].leader('l').call(1), failsWith('unavailable'));
    await without.close();
});
