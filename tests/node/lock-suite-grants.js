/** Conformance to W3C Web Locks: modes, requests that do not wait, steals, aborts and query(). */

import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import {
    deferred,
    fresh,
    hold,
    never,
    rejectsDom,
    rejectsWith,
    stateOf as stateOfManager,
    unreached,
    wait,
} from './lock-suite-helpers.js';

/** @param {import('./lock-suite-helpers.js').Managers} managers */
export function grantTests(managers) {
    /** @type {any} */
    let locks;
    /** The lock manager of another tab. @type {any} */
    let others;
    /** @type {any} */
    let Lock;

    /** @param {string} name */
    const stateOf = (name, manager = locks) => stateOfManager(name, manager);

    before(() => void ({ locks, others, Lock } = managers));

    describe('modes', () => {
        for (const mode of ['exclusive', 'shared']) {
            it(`${mode} requests are granted in their order, over names`, async () => {
                const resource = fresh();
                /** @type {number[]} */
                const granted = [];
                const all = ['a', 'b', 'c', 'a', 'b', 'c', 'a'].map((name, at) =>
                    locks.request(name + resource, { mode }, () => granted.push(at)),
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

        it('shared locks are held together, however long the first of them has been held', async () => {
            const name = fresh();
            for (const held_ms of [0, 120]) {
                const reached = await locks.request(name, { mode: 'shared' }, async () => {
                    await wait(held_ms);
                    return locks.request(name, { mode: 'shared' }, () => true);
                });
                assert.equal(reached, true);
            }
        });

        it('shared locks are held together by several tabs', async () => {
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

        it('a shared request waits behind an exclusive one of another tab until that is aborted', async () => {
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

        it('query() reports five shared, one exclusive and five more shared requests in their order', async () => {
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

        it('an ifAvailable request gets the lock or null at once, and never waits', async () => {
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

        it('an ifAvailable request is not granted before a waiting request', async () => {
            const name = fresh();
            const mine = await hold(locks, name, { mode: 'shared' });
            const next = locks.request(name, () => 'next');
            assert.equal(await ask(name, { mode: 'shared' }), null);
            mine.release();
            assert.equal(await next, 'next');
            await mine.released;
        });

        it('an ifAvailable request settles with what its callback returns or throws', async () => {
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

        it('an ifAvailable request is granted as soon as the previous holder has released', async () => {
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
        it('a steal takes a free lock and a held one, and the previous holder is notified', async () => {
            const name = fresh();
            assert.ok(await locks.request(name, { steal: true }, (/** @type {any} */ lock) => lock));
            for (const manager of [locks, others]) {
                const previous =
                    locks === manager ? manager.request(name, never) : (await hold(manager, name)).released;
                const notified = rejectsDom(previous, 'AbortError');
                assert.equal(await locks.request(name, { steal: true }, () => 'mine'), 'mine');
                await notified;
            }
            assert.ok(await locks.request(name, { ifAvailable: true }, (/** @type {any} */ lock) => lock));
        });

        it('a steal wins over a callback that settles after it, in the same turn', async () => {
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

        it('a steal goes before a waiting request, which is granted afterwards', async () => {
            const name = fresh();
            const previous = rejectsDom(locks.request(name, never), 'AbortError');
            let granted = false;
            const waits = locks.request(name, () => (granted = true));
            await locks.request(name, { steal: true }, () => assert.equal(granted, false));
            assert.equal(await waits, true);
            await previous;
        });

        it('the last of several steals wins', async () => {
            const name = fresh();
            const first = rejectsDom(locks.request(name, never), 'AbortError');
            const second = rejectsDom(locks.request(name, { steal: true }, never), 'AbortError');
            await locks.request(name, { steal: true }, () => {});
            await Promise.all([first, second]);
        });

        it('a steal takes the lock from every shared holder', async () => {
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
        it('a request with an aborted signal rejects with its reason, and its callback is not called', async () => {
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

        it('the callback of a request that is aborted in the same turn is not called, and the next request is granted', async () => {
            const name = fresh();
            const controller = new AbortController();
            const request = locks.request(name, { signal: controller.signal }, unreached);
            const next = locks.request(name, () => 'next');
            controller.abort('why');
            await rejectsWith(request, 'why');
            assert.equal(await next, 'next');
        });

        it('query() does not report a request that was aborted while it waited', async () => {
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

        it('the request behind one that was aborted while it waited is processed', async () => {
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

        it('an abort after the callback was called changes nothing', async () => {
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
        it('query() reports two empty arrays if there are no requests', async () => {
            while ((await locks.query()).held.length > 0) await wait(1);
            assert.deepEqual(await locks.query(), { held: [], pending: [] });
        });

        it('query() reports the name, mode and client of held and waiting locks, right after the requests were made', async () => {
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

        it('query() reports a request that could be granted at once as held', async () => {
            const name = fresh();
            const end = deferred();
            const request = locks.request(name, () => end.promise);
            const { held, pending } = await stateOf(name);
            assert.deepEqual([held.length, pending.length], [1, 0]);
            end.resolve();
            await request;
            assert.equal((await stateOf(name)).held.length, 0);
        });

        it('query() shows a deadlock of two clients, each with its own clientId', async () => {
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
}
