/** Conformance to W3C Web Locks: the arguments of request(), names, and what its promise settles with. */

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import {
    deferred,
    fresh,
    never,
    rejectsDom,
    rejectsWith,
    stateOf as stateOfManager,
    unreached,
    wait,
} from './lock-suite-helpers.js';

/** @param {import('./lock-suite-helpers.js').Managers} managers */
export function requestTests(managers) {
    /** @type {any} */
    let locks;
    /** The lock manager of another tab. @type {any} */
    let others;
    /** @type {any} */
    let Lock;
    /** @type {any} */
    let LockManager;

    /** @param {string} name */
    const stateOf = (name, manager = locks) => stateOfManager(name, manager);

    before(() => void ({ locks, others, Lock, LockManager } = managers));

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

        it('the callback is called with the lock as its only argument, and without `this` (Web IDL, to invoke a callback function)', async () => {
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

        it('options that exclude each other are a NotSupportedError', async () => {
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

        it('a signal that is no AbortSignal is refused', async () => {
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

        it('members are read in the order of their names and converted at once, and conversions come before refusals', async () => {
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
            it(`any DOMString is a name: ${JSON.stringify(name).slice(0, 40)}`, async () => {
                await locks.request(name, async (/** @type {any} */ lock) => {
                    assert.equal(lock.name, name);
                    assert.equal((await stateOf(name)).held.length, 1);
                    assert.equal((await stateOf(name, others)).held.length, 1);
                });
            });
        }

        it('names that are not well-formed strings stay as they are', async () => {
            await locks.request('\uD800', () =>
                locks.request('\uFFFD', () =>
                    locks.request('\uFFFFd800', (/** @type {any} */ lock) =>
                        assert.equal(lock.name, '\uFFFFd800'),
                    ),
                ),
            );
        });

        it('a name that begins with - is refused, and a name that is no string becomes one', async () => {
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

        it('request() resolves with the value that the callback returns, or with the value of the promise that it returns', async () => {
            const request = locks.request(fresh(), () => 123);
            assert.equal(Promise.resolve(request), request);
            assert.equal(await request, 123);
            assert.equal(await locks.request(fresh(), async () => 'async'), 'async');
        });

        it('request() calls the callback with the lock as its only argument and without `this`', async () => {
            /** @this {unknown} @param {unknown[]} given */
            function callback(...given) {
                return [this, given.length];
            }
            assert.deepEqual(await locks.request(fresh(), callback), [undefined, 1]);
            const name = fresh();
            await locks.request(name, async () =>
                assert.deepEqual(await locks.request(name, { ifAvailable: true }, callback), [undefined, 1]),
            );
        });

        it('request() refuses wrong arguments with the messages of Chromium', async () => {
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

        it('request() settles after the lock was released', async () => {
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

        it('request() rejects with the value that the callback throws, now or later, without calling its then()', async () => {
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
            it(`a lock is held until the promise of the callback ${ends}s`, async () => {
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
}
