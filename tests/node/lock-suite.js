/**
 * The letter of W3C Web Locks, for whoever has the shape of a LockManager: what web-platform-tests' web-locks suite
 * asserts of navigator.locks, rewritten, and what the specification requires beyond it.
 */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';

export const rejectsDom = (/** @type {Promise<unknown>} */ promise, /** @type {string} */ name) =>
    assert.rejects(promise, (error) => error instanceof DOMException && error.name === name);

/** Rejects with this very object. @param {Promise<unknown>} promise @param {unknown} reason */
async function rejectsWith(promise, reason) {
    const [outcome] = await Promise.allSettled([promise]);
    assert.ok(outcome?.status === 'rejected' && outcome.reason === reason);
}

const never = () => new Promise(() => {});
const wait = (/** @type {number} */ delay_ms) => new Promise((resolve) => setTimeout(resolve, delay_ms));

export function deferred() {
    /** @type {(value?: any) => void} */
    let resolve = () => {};
    /** @type {(reason?: any) => void} */
    let reject = () => {};
    const promise = new Promise((...both) => ([resolve, reject] = both));
    return { promise, resolve, reject };
}

/**
 * @param {string} title
 * @param {() => Promise<{ locks: any, others: any, Lock: any, LockManager: any, end: () => unknown }>} make the lock
 *   managers of two tabs, and their interfaces
 */
export const lockSuite = (title, make) =>
    describe(title, { timeout: 120_000 }, () => {
        /** @type {any} */
        let locks;
        /** The locks of another tab. @type {any} */
        let others;
        let names = 0;
        /** @type {any} */
        let Lock;
        /** @type {any} */
        let LockManager;
        /** @type {() => unknown} */
        let end;

        const fresh = () => `resource ${++names}`;
        const unreached = () => assert.fail('the callback must not be called');

        /**
         * Holds a lock until the test lets it go.
         *
         * @param {any} manager
         * @param {string} name
         * @param {object} [options]
         */
        async function hold(manager, name, options = {}) {
            const [granted, end] = [deferred(), deferred()];
            const released = manager.request(name, options, (/** @type {any} */ lock) => {
                granted.resolve(lock);
                return end.promise;
            });
            released.catch(granted.reject);
            await granted.promise;
            return { released, release: end.resolve };
        }

        /** @param {string} name */
        const stateOf = async (name, manager = locks) => {
            const { held, pending } = await manager.query();
            const of = (/** @type {any[]} */ list) => list.filter((info) => info.name === name);
            return { held: of(held), pending: of(pending) };
        };

        before(async () => {
            ({ locks, others, Lock, LockManager, end } = await make());
        });
        after(() => end());

        describe('arguments', () => {
            it('a name and a callback are required', async () => {
                const name = fresh();
                await assert.rejects(locks.request(), TypeError);
                await assert.rejects(locks.request(name), TypeError);
                for (const callback of [undefined, null, 123, 'abc', [], {}, never()]) {
                    await assert.rejects(locks.request(name, callback), TypeError);
                    await assert.rejects(locks.request(name, {}, callback), TypeError);
                }
                assert.equal(LockManager.prototype.request.length, 2);
                await assert.rejects(locks.request(Symbol('no string'), unreached), TypeError);
            });

            it('the mode is exclusive or shared', async () => {
                const name = fresh();
                for (const mode of ['foo', null, '', Symbol('shared')]) {
                    await assert.rejects(locks.request(name, { mode }, unreached), TypeError);
                }
                for (const mode of ['exclusive', 'shared']) {
                    assert.equal(
                        await locks.request(name, { mode }, (/** @type {any} */ lock) => lock.mode),
                        mode,
                    );
                }
                for (const options of [undefined, null, {}, { mode: undefined }, () => {}]) {
                    assert.equal(
                        await locks.request(name, options, (/** @type {any} */ lock) => lock.mode),
                        'exclusive',
                    );
                }
                for (const options of [1, 'shared', true])
                    await assert.rejects(locks.request(name, options, unreached), TypeError);
            });

            it('the callback is called with the lock alone, and no this (Web IDL, to invoke a callback function)', async () => {
                /** @type {any[]} */
                const calls = [];
                await locks.request(
                    fresh(),
                    /** @this {any} */ function (/** @type {any[]} */ ...given) {
                        calls.push([this, given.length]);
                    },
                );
                await locks.request(
                    fresh(),
                    { ifAvailable: true },
                    /** @this {any} */ function (/** @type {any[]} */ ...given) {
                        calls.push([this, given.length]);
                    },
                );
                assert.deepEqual(calls, [
                    [undefined, 1],
                    [undefined, 1],
                ]);
            });

            it('what excludes each other is a NotSupportedError', async () => {
                const name = fresh();
                const { signal } = new AbortController();
                const both = [
                    { steal: true, ifAvailable: true },
                    { steal: true, mode: 'shared' },
                    { signal, steal: true },
                    { signal, ifAvailable: true },
                ];
                for (const options of both)
                    await rejectsDom(locks.request(name, options, unreached), 'NotSupportedError');
            });

            it('the signal is an AbortSignal', async () => {
                for (const signal of [
                    'string',
                    12.34,
                    false,
                    null,
                    {},
                    Symbol('signal'),
                    () => {},
                    new EventTarget(),
                ]) {
                    await assert.rejects(locks.request(fresh(), { signal }, unreached), TypeError);
                }
            });

            it('members are read in the order of their names, each converted at once; conversions come before refusals', async () => {
                /** @type {string[]} */
                const read = [];
                const options = new Proxy({}, { get: (_, key) => void read.push(String(key)) });
                await locks.request(fresh(), options, () => {});
                assert.deepEqual(read, ['ifAvailable', 'mode', 'signal', 'steal']);
                read.length = 0;
                const bad = new Proxy(
                    {},
                    { get: (_, key) => (read.push(String(key)), key === 'mode' ? 'bad' : undefined) },
                );
                await assert.rejects(locks.request(fresh(), bad, unreached), TypeError);
                assert.deepEqual(read, ['ifAvailable', 'mode']);
                await assert.rejects(locks.request('-', { steal: true, ifAvailable: true }, 1), TypeError);
                await rejectsDom(
                    locks.request('-', { signal: AbortSignal.abort('reason') }, unreached),
                    'NotSupportedError',
                );
                await rejectsDom(
                    locks.request(fresh(), { steal: true, signal: AbortSignal.abort('reason') }, unreached),
                    'NotSupportedError',
                );
            });

            it('nothing is called or thrown synchronously', () => {
                let called = false;
                for (const promise of [
                    locks.request(),
                    locks.request('-', () => {}),
                    locks.request(fresh(), () => (called = true)),
                ]) {
                    assert.ok(promise instanceof Promise);
                    promise.catch(() => {});
                }
                assert.equal(called, false);
            });
        });

        describe('names', () => {
            for (const name of [
                '',
                'abc\x00def',
                '\uD800',
                '\uDC00',
                '\uDC00\uD800',
                '\uFFFF',
                '\uFFFFd800',
                '%',
                'x-anything',
                'a'.repeat(100_000),
            ]) {
                it(`any DOMString: ${JSON.stringify(name).slice(0, 40)}`, async () => {
                    await locks.request(name, async (/** @type {any} */ lock) => {
                        assert.equal(lock.name, name);
                        assert.equal((await stateOf(name)).held.length, 1);
                        assert.equal((await stateOf(name, others)).held.length, 1);
                    });
                });
            }

            it('names that are not well-formed are not mangled', async () => {
                await locks.request('\uD800', () =>
                    locks.request('\uFFFD', () =>
                        locks.request('\uFFFFd800', (/** @type {any} */ lock) =>
                            assert.equal(lock.name, '\uFFFFd800'),
                        ),
                    ),
                );
            });

            it('none begins with -; other values become strings', async () => {
                for (const name of ['-', '-foo'])
                    await rejectsDom(locks.request(name, unreached), 'NotSupportedError');
                assert.equal(await locks.request(17, (/** @type {any} */ lock) => lock.name), '17');
                assert.equal(await locks.request(null, (/** @type {any} */ lock) => lock.name), 'null');
            });
        });

        describe('the lock and the promise', () => {
            it('a Lock has a name and a mode that cannot be written', async () => {
                const name = fresh();
                await locks.request(name, { mode: 'shared' }, (/** @type {any} */ lock) => {
                    assert.ok(lock instanceof Lock);
                    assert.deepEqual([lock.name, lock.mode], [name, 'shared']);
                    assert.throws(() => Object.assign(lock, { name: 'other' }), TypeError);
                    assert.equal(Object.prototype.toString.call(lock), '[object Lock]');
                    assert.deepEqual(Object.keys(lock), []);
                });
                assert.throws(() => new /** @type {any} */ (Lock)(), TypeError);
                assert.equal(Object.prototype.toString.call(locks), '[object LockManager]');
            });

            it('resolves with what the callback returns, or returns a promise of', async () => {
                const request = locks.request(fresh(), () => 123);
                assert.equal(Promise.resolve(request), request);
                assert.equal(await request, 123);
                assert.equal(await locks.request(fresh(), async () => 'async'), 'async');
            });

            it('calls the callback of no object, with the lock alone', async () => {
                /** @this {unknown} @param {unknown[]} given */
                function callback(...given) {
                    return [this, given.length];
                }
                assert.deepEqual(await locks.request(fresh(), callback), [undefined, 1]);
                const name = fresh();
                await locks.request(name, async () =>
                    assert.deepEqual(await locks.request(name, { ifAvailable: true }, callback), [
                        undefined,
                        1,
                    ]),
                );
            });

            it('refuses with the messages that Chromium has', async () => {
                const why = (/** @type {string} */ text) => ({
                    message: `Failed to execute 'request' on 'LockManager': ${text}.`,
                });
                const refused = (/** @type {any} */ options, /** @type {string} */ text) =>
                    assert.rejects(locks.request(fresh(), options, unreached), why(text));
                const { signal } = new AbortController();
                await assert.rejects(locks.request(fresh()), why('2 arguments required, but only 1 present'));
                await assert.rejects(locks.request('-', unreached), why("Names cannot start with '-'"));
                await assert.rejects(locks.request('n', null), why("parameter 2 is not of type 'Function'"));
                await refused(
                    { mode: 'foo' },
                    "The provided value 'foo' is not a valid enum value of type LockMode",
                );
                await refused({ signal: {} }, 'member signal is not of type AbortSignal');
                await refused(
                    { steal: true, ifAvailable: true },
                    "The 'steal' and 'ifAvailable' options cannot be used together",
                );
                await refused(
                    { steal: true, mode: 'shared' },
                    "The 'steal' option may only be used with 'exclusive' locks",
                );
                await refused(
                    { steal: true, signal },
                    "The 'signal' and 'steal' options cannot be used together",
                );
                await refused(
                    { ifAvailable: true, signal },
                    "The 'signal' and 'ifAvailable' options cannot be used together",
                );
            });

            it('is settled after the lock was released', async () => {
                const end = deferred();
                /** @type {string[]} */
                const order = [];
                const returned = locks.request(fresh(), () => end.promise);
                void returned.then(() => order.push('returned'));
                void end.promise.then(() => order.push('holding'));
                end.resolve();
                await returned;
                await wait(0);
                assert.deepEqual(order, ['holding', 'returned']);
            });

            it('rejects with what the callback throws, now or later, of which no then() is called', async () => {
                const error = { name: 'test' };
                await rejectsWith(
                    locks.request(fresh(), () => {
                        throw error;
                    }),
                    error,
                );
                await rejectsWith(
                    locks.request(fresh(), () => Promise.reject(error)),
                    error,
                );
                let called = false;
                const thenable = { then: () => (called = true) };
                await rejectsWith(
                    locks.request(fresh(), async () => {
                        throw thenable;
                    }),
                    thenable,
                );
                await rejectsWith(
                    locks.request(fresh(), () => {
                        throw thenable;
                    }),
                    thenable,
                );
                assert.equal(called, false);
            });

            for (const ends of /** @type {const} */ (['resolve', 'reject'])) {
                it(`holds until the callback's promise ${ends}s`, async () => {
                    const name = fresh();
                    const [granted, end] = [deferred(), deferred()];
                    /** @type {string[]} */
                    const order = [];
                    const first = locks.request(name, () => (granted.resolve(), end.promise)).catch(() => {});
                    await granted.promise;
                    const second = locks.request(name, () => order.push('granted'));
                    await wait(50);
                    order.push(ends);
                    end[ends]();
                    await Promise.all([first, second]);
                    assert.deepEqual(order, [ends, 'granted']);
                });
            }
        });

        describe('modes', () => {
            for (const mode of ['exclusive', 'shared']) {
                it(`${mode} requests are granted in their order, over names`, async () => {
                    /** @type {number[]} */
                    const granted = [];
                    const all = ['a', 'b', 'c', 'a', 'b', 'c', 'a'].map((name, at) =>
                        locks.request(name + names, { mode }, () => granted.push(at)),
                    );
                    await Promise.all(all);
                    assert.deepEqual(granted, [0, 1, 2, 3, 4, 5, 6]);
                });
            }

            it('exclusive requests for different names do not wait for each other', async () => {
                const [a, b] = [fresh(), fresh()];
                /** @type {number[]} */
                const granted = [];
                /** @type {Promise<unknown> | undefined} */
                let inner;
                await locks.request(a, async () => {
                    inner = Promise.all([
                        locks.request(a, () => granted.push(1)),
                        locks.request(b, () => granted.push(2)),
                    ]);
                });
                await inner;
                assert.deepEqual(granted, [2, 1]);
            });

            it('shared locks are held together, however long the first is held already', async () => {
                const name = fresh();
                for (const held_ms of [0, 120]) {
                    const reached = await locks.request(name, { mode: 'shared' }, async () => {
                        await wait(held_ms);
                        return locks.request(name, { mode: 'shared' }, () => true);
                    });
                    assert.equal(reached, true);
                }
            });

            it('shared locks are held together, whoever else shares', async () => {
                const name = fresh();
                const mine = await hold(locks, name, { mode: 'shared' });
                const theirs = await hold(others, name, { mode: 'shared' });
                await locks.request(name, { mode: 'shared' }, () => {});
                assert.equal((await stateOf(name)).held.length, 2);
                await wait(120);
                assert.equal(
                    await locks.request(
                        name,
                        { mode: 'shared', ifAvailable: true },
                        (/** @type {any} */ lock) => lock?.mode,
                    ),
                    'shared',
                );
                mine.release();
                theirs.release();
                await Promise.all([mine.released, theirs.released]);
            });

            it('a shared request waits behind an exclusive one of another tab, until that gives up', async () => {
                const name = fresh();
                const mine = await hold(locks, name, { mode: 'shared' });
                const controller = new AbortController();
                const writer = others.request(name, { signal: controller.signal }, unreached);
                assert.equal((await stateOf(name, others)).pending.length, 1);
                let granted = false;
                const reader = locks.request(name, { mode: 'shared' }, () => (granted = true));
                const { held, pending } = await stateOf(name);
                assert.deepEqual([granted, held.length, pending.length], [false, 1, 2]);
                controller.abort();
                await rejectsDom(writer, 'AbortError');
                assert.equal(await reader, true);
                mine.release();
                await mine.released;
            });

            it('an exclusive request waits for the shared locks before it', async () => {
                const [a, b] = [fresh(), fresh()];
                const end = deferred();
                /** @type {string[]} */
                const granted = [];
                const share = (/** @type {string} */ text) =>
                    locks.request(a, { mode: 'shared' }, () => (granted.push(text), end.promise));
                const shared = [share('first'), share('second'), share('third')];
                const exclusive = locks.request(
                    a,
                    (/** @type {any} */ lock) => (granted.push('exclusive'), lock.mode),
                );
                await locks.request(b, () => granted.push('other'));
                assert.deepEqual(granted, ['first', 'second', 'third', 'other']);
                end.resolve();
                assert.equal(await exclusive, 'exclusive');
                await Promise.all(shared);
                assert.equal(granted.at(-1), 'exclusive');
            });

            it('five, one and five, as query() reports', async () => {
                const name = fresh();
                const [first, second, third] = [deferred(), deferred(), deferred()];
                const share = (/** @type {Promise<unknown>} */ until) =>
                    Array.from({ length: 5 }, () => locks.request(name, { mode: 'shared' }, () => until));
                const modes = async () => (await stateOf(name)).held.map(({ mode }) => mode);
                const earlier = share(first.promise);
                const one = locks.request(name, () => second.promise);
                const behind = share(third.promise);
                assert.deepEqual(await modes(), Array(5).fill('shared'));
                assert.deepEqual((await stateOf(name)).pending.length, 6);
                first.resolve();
                await Promise.all(earlier);
                assert.deepEqual(await modes(), ['exclusive']);
                assert.deepEqual((await stateOf(name)).pending.length, 5);
                second.resolve();
                await one;
                assert.deepEqual(await modes(), Array(5).fill('shared'));
                third.resolve();
                await Promise.all(behind);
            });
        });

        describe('ifAvailable', () => {
            const ask = (/** @type {string} */ name, options = {}, manager = locks) =>
                manager.request(name, { ...options, ifAvailable: true }, (/** @type {any} */ lock) => lock);

            it('gives the lock, or null at once, and nothing waits', async () => {
                const name = fresh();
                assert.ok((await ask(name)) instanceof Lock);
                await locks.request(name, async () => {
                    assert.equal(await ask(name), null);
                    assert.equal(await ask(name, {}, others), null);
                    assert.equal(await ask(name, { mode: 'shared' }), null);
                    assert.ok(await ask(fresh()));
                    assert.equal((await stateOf(name)).pending.length, 0);
                });
                await locks.request(name, { mode: 'shared' }, async () => {
                    assert.ok(await ask(name, { mode: 'shared' }));
                    assert.ok(await ask(name, { mode: 'shared' }, others));
                    assert.equal(await ask(name), null);
                });
            });

            it('is not granted before a waiting request', async () => {
                const name = fresh();
                const mine = await hold(locks, name, { mode: 'shared' });
                const next = locks.request(name, () => 'next');
                assert.equal(await ask(name, { mode: 'shared' }), null);
                mine.release();
                assert.equal(await next, 'next');
                await mine.released;
            });

            it('settles as its callback returns or throws', async () => {
                const name = fresh();
                const error = { name: 'test' };
                await locks.request(name, async () => {
                    assert.equal(await locks.request(name, { ifAvailable: true }, async () => 123), 123);
                    await rejectsWith(
                        locks.request(name, { ifAvailable: true }, () => {
                            throw error;
                        }),
                        error,
                    );
                    await rejectsWith(
                        locks.request(name, { ifAvailable: true }, () => Promise.reject(error)),
                        error,
                    );
                });
            });

            it('is granted as soon as the one before is released', async () => {
                const [a, b] = [fresh(), fresh()];
                await locks.request(a, async () => {
                    await locks.request(b, () => {});
                    assert.ok(await ask(b));
                    assert.ok(await ask(b, {}, others));
                    assert.ok(await ask(b));
                });
            });
        });

        describe('steal', () => {
            it('takes what is free and what is held; the previous holder is notified, and its callback is not called again', async () => {
                const name = fresh();
                assert.ok(await locks.request(name, { steal: true }, (/** @type {any} */ lock) => lock));
                for (const manager of [locks, others]) {
                    const previous =
                        locks === manager
                            ? manager.request(name, never)
                            : (await hold(manager, name)).released;
                    const notified = rejectsDom(previous, 'AbortError');
                    assert.equal(await locks.request(name, { steal: true }, () => 'mine'), 'mine');
                    await notified;
                }
                assert.ok(
                    await locks.request(name, { ifAvailable: true }, (/** @type {any} */ lock) => lock),
                );
            });

            it('comes first of a callback that is settled after it was asked, in the same turn or before it runs', async () => {
                const name = fresh();
                const holder = await hold(locks, name);
                const previous = rejectsDom(holder.released, 'AbortError');
                const stolen = locks.request(name, { steal: true }, () => 'mine');
                holder.release('too late');
                assert.equal(await stolen, 'mine');
                await previous;
                let called = 0;
                const asked = rejectsDom(
                    locks.request(name, async () => ++called),
                    'AbortError',
                );
                assert.equal(await locks.request(name, { steal: true }, () => 'again'), 'again');
                await asked;
                assert.equal(called, 1);
            });

            it('goes before a waiting request, which then has its turn', async () => {
                const name = fresh();
                const previous = rejectsDom(locks.request(name, never), 'AbortError');
                let granted = false;
                const waits = locks.request(name, () => (granted = true));
                await locks.request(name, { steal: true }, () => assert.equal(granted, false));
                assert.equal(await waits, true);
                await previous;
            });

            it('the last one wins', async () => {
                const name = fresh();
                const first = rejectsDom(locks.request(name, never), 'AbortError');
                const second = rejectsDom(locks.request(name, { steal: true }, never), 'AbortError');
                await locks.request(name, { steal: true }, () => {});
                await Promise.all([first, second]);
            });

            it('takes from every shared holder', async () => {
                const name = fresh();
                const previous = [locks, others, locks].map((manager) =>
                    manager.request(name, { mode: 'shared' }, never),
                );
                const notified = previous.map((promise) => rejectsDom(promise, 'AbortError'));
                while ((await stateOf(name)).held.length < 3) await wait(1);
                await locks.request(name, { steal: true }, () => {});
                await Promise.all(notified);
            });
        });

        describe('signal', () => {
            it('aborted before: its reason, and no callback', async () => {
                const controller = new AbortController();
                controller.abort();
                const { signal } = controller;
                await rejectsWith(locks.request(fresh(), { signal }, unreached), signal.reason);
                await rejectsDom(locks.request(fresh(), { signal }, unreached), 'AbortError');
                await rejectsWith(
                    locks.request(fresh(), { signal: AbortSignal.abort('my dog') }, unreached),
                    'my dog',
                );
            });

            it('aborted in the same turn: no callback, though the lock is free, and nothing stays behind', async () => {
                const name = fresh();
                const controller = new AbortController();
                const request = locks.request(name, { signal: controller.signal }, unreached);
                const next = locks.request(name, () => 'next');
                controller.abort('why');
                await rejectsWith(request, 'why');
                assert.equal(await next, 'next');
            });

            it('aborted while it waits: query() reports it no more', async () => {
                const name = fresh();
                const holder = await hold(locks, name);
                const controller = new AbortController();
                const request = locks.request(name, { signal: controller.signal }, unreached);
                assert.deepEqual(
                    Object.values(await stateOf(name)).map(({ length }) => length),
                    [1, 1],
                );
                const rejected = rejectsDom(request, 'AbortError');
                controller.abort();
                await rejected;
                assert.deepEqual(
                    Object.values(await stateOf(name)).map(({ length }) => length),
                    [1, 0],
                );
                holder.release();
                await holder.released;
            });

            it('aborted while it waits: the request behind it is processed', async () => {
                const name = fresh();
                const holder = await hold(locks, name, { mode: 'shared' });
                const controller = new AbortController();
                const writer = locks.request(name, { signal: controller.signal }, unreached);
                const reader = locks.request(name, { mode: 'shared' }, () => 'reads');
                await wait(10);
                controller.abort();
                await rejectsDom(writer, 'AbortError');
                assert.equal(await reader, 'reads');
                holder.release();
                await holder.released;
            });

            it('aborted once the callback was called: nothing', async () => {
                for (const when of ['before', 'after']) {
                    const controller = new AbortController();
                    const { released, release } = await hold(locks, fresh(), { signal: controller.signal });
                    if (when === 'before') controller.abort();
                    release('ended well');
                    if (when === 'after') controller.abort();
                    assert.equal(await released, 'ended well');
                }
            });
        });

        describe('query', () => {
            it('reports nothing as two empty arrays', async () => {
                while ((await locks.query()).held.length > 0) await wait(1);
                assert.deepEqual(await locks.query(), { held: [], pending: [] });
            });

            it('reports name, mode and client, of what is held and what waits, right after it was asked', async () => {
                const name = fresh();
                await locks.request(name, async () => {
                    const waiting = [
                        locks.request(name, { mode: 'shared' }, () => {}),
                        locks.request(name, { mode: 'shared' }, () => {}),
                        locks.request(name, () => {}),
                    ];
                    const { held, pending } = await stateOf(name);
                    assert.deepEqual(Object.keys(held[0]).sort(), ['clientId', 'mode', 'name']);
                    assert.deepEqual(
                        held.map(({ mode }) => mode),
                        ['exclusive'],
                    );
                    assert.deepEqual(
                        pending.map(({ mode }) => mode),
                        ['shared', 'shared', 'exclusive'],
                    );
                    assert.equal(new Set([...held, ...pending].map(({ clientId }) => clientId)).size, 1);
                    void Promise.all(waiting);
                });
            });

            it('a request that can be granted is held by then', async () => {
                const name = fresh();
                const end = deferred();
                const request = locks.request(name, () => end.promise);
                const { held, pending } = await stateOf(name);
                assert.deepEqual([held.length, pending.length], [1, 0]);
                end.resolve();
                await request;
                assert.equal((await stateOf(name)).held.length, 0);
            });

            it('one client is distinguished from another, of which the requests are in order; a deadlock is seen', async () => {
                const [a, b] = [fresh(), fresh()];
                const theirs = await hold(others, a);
                const mine = await hold(locks, b);
                const blocked = [new AbortController(), new AbortController()];
                const rejected = [
                    rejectsDom(others.request(b, { signal: blocked[0]?.signal }, unreached), 'AbortError'),
                    rejectsDom(locks.request(a, { signal: blocked[1]?.signal }, unreached), 'AbortError'),
                ];
                const [of_a, of_b] = [await stateOf(a), await stateOf(b)];
                for (const { held, pending } of [of_a, of_b])
                    assert.deepEqual([held.length, pending.length], [1, 1]);
                assert.equal(of_a.held[0].clientId, of_b.pending[0].clientId);
                assert.equal(of_b.held[0].clientId, of_a.pending[0].clientId);
                assert.notEqual(of_a.held[0].clientId, of_b.held[0].clientId);
                for (const controller of blocked) controller.abort();
                await Promise.all(rejected);
                for (const one of [mine, theirs]) one.release();
                await Promise.all([mine.released, theirs.released]);
            });
        });
    });
