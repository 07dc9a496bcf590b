/** The option `releaseSignal`: a signal that ends the wait and the hold of a lock, a term and a permit. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tabs } from './open-tabs.js';
import { failsWith, isDom } from './expected-errors.js';

/** A promise that never settles. */
const never = () => new Promise(() => {});

test('releaseSignal ends a hold: its signal aborts, run() rejects with the reason, and the next tab is granted the lock', async () => {
    const {
        tabs: [a, b],
        close,
        until,
    } = await tabs(2);
    const calls = {
        lock: (/** @type {any} */ tab, /** @type {any} */ use, /** @type {any} */ options) =>
            tab.lock('l').run(use, options),
        leader: (/** @type {any} */ tab, /** @type {any} */ use, /** @type {any} */ options) =>
            tab.leader('l').run(use, options),
        semaphore: (/** @type {any} */ tab, /** @type {any} */ use, /** @type {any} */ options) =>
            tab.semaphore('l', 1).run(use, options),
        shared: (/** @type {any} */ tab, /** @type {any} */ use, /** @type {any} */ options) =>
            tab.lock('l').run(use, { ...options, mode: 'shared' }),
    };
    for (const [name, call] of Object.entries(calls)) {
        for (const reason of [new RangeError('unmounted'), 'a text', null]) {
            const unmounted = new AbortController();
            /** @type {any} */
            let held;
            const run = call(
                a,
                (/** @type {any} */ one) => {
                    held = one;
                    return never();
                },
                { releaseSignal: unmounted.signal },
            );
            await until(() => held);
            const { signal } = held;
            unmounted.abort(reason);
            assert.equal(signal.aborted, true, name);
            assert.equal(signal.reason, reason);
            assert.equal(await run.catch((/** @type {unknown} */ error) => error), reason);
            assert.equal(await call(b, () => 'next', {}), 'next');
        }
    }
    await close();
});

test('releaseSignal ends a wait, and an aborted one refuses the request', async () => {
    const {
        tabs: [a, b],
        close,
        until,
        origin,
    } = await tabs(2);
    const holder = await a.lock('l').acquire();
    const unmounted = new AbortController();
    const options = { releaseSignal: unmounted.signal, signal: new AbortController().signal };
    const waiting = [
        b.lock('l').run(() => assert.fail('it was released'), options),
        b.lock('l').acquire(options),
        b.lockAll(['k', 'l'], () => assert.fail('it was released'), options),
        b.serial('l', 1).set(2, never, options),
    ];
    await until(async () => (await origin.waitingLocks()) > 0);
    unmounted.abort();
    for (const request of waiting) await assert.rejects(request, isDom('AbortError'));
    await assert.rejects(b.lock('m').acquire(options), isDom('AbortError'));
    holder.release();
    assert.equal(await b.lock('l').run(() => 1), 1);
    await close();
});

test('a commit that has begun when releaseSignal aborts is committed before the lock is released', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    const unmounted = new AbortController();
    const held = await a.lock('l').acquire({ releaseSignal: unmounted.signal });
    const commit = held.commit('s', async (tx) => {
        await tx.get('s', 'k');
        unmounted.abort();
        tx.put('s', 'k', 1);
    });
    await commit;
    assert.throws(() => held.assertHeld(), isDom('AbortError'));
    await assert.rejects(
        held.commit('s', () => {}),
        isDom('AbortError'),
    );
    assert.equal(await b.lock('l').run((one) => one.commit('s', (tx) => tx.get('s', 'k'))), 1);
    await close();
});

test('releaseSignal ends all locks of lockAll(), and the signals of all abort', async () => {
    const {
        tabs: [a, b],
        close,
        until,
    } = await tabs(2);
    for (const wait of [true, false]) {
        const unmounted = new AbortController();
        /** @type {import('tabacus').Held[]} */
        let all = [];
        const run = a.lockAll(
            ['l', 'm'],
            (held) => {
                all = held;
                if (!wait) unmounted.abort();
                return wait ? never() : undefined;
            },
            { releaseSignal: unmounted.signal },
        );
        await Promise.race([run.catch(() => {}), until(() => all.length > 0)]);
        if (wait) unmounted.abort();
        await assert.rejects(run, isDom('AbortError'));
        for (const { signal, held } of all) assert.deepEqual([signal.aborted, held], [true, false]);
    }
    assert.equal(await b.lockAll(['l', 'm'], () => 2), 2);
    await close();
});

test('releaseSignal has no effect on a released lock, and keeps no listener of it', async () => {
    const {
        tabs: [a],
        close,
    } = await tabs(1);
    const unmounted = new AbortController();
    let listeners = 0;
    const { signal } = unmounted;
    const [add, remove] = [signal.addEventListener.bind(signal), signal.removeEventListener.bind(signal)];
    Object.assign(signal, {
        addEventListener: (/** @type {[any, any]} */ ...args) => (++listeners, add(...args)),
        removeEventListener: (/** @type {[any, any]} */ ...args) => (--listeners, remove(...args)),
    });
    assert.equal(await a.lock('l').run(({ held }) => held, { releaseSignal: signal }), true);
    const held = await a.lock('l').acquire({ releaseSignal: signal });
    assert.equal(listeners, 1);
    held.release();
    const none = await a.lock('l').run((free) => free, { ifAvailable: true, releaseSignal: signal });
    assert.equal(none?.name, 'l');
    assert.equal(listeners, 0);
    unmounted.abort();
    assert.equal(held.signal.aborted, false);
    for (const bad of [{}, null, 7])
        await assert.rejects(
            a.lock('l').run(() => {}, /** @type {any} */ ({ releaseSignal: bad })),
            failsWith('invalid-argument'),
        );
    await close();
});

test('an effect that is cleaned up and run again leaves one leader, and answer() rejects with the reason', async () => {
    const {
        tabs: [a, b],
        close,
        until,
    } = await tabs(2);
    /** What a React effect does: it returns its cleanup. @param {number[]} led */
    const effect = (led) => {
        const unmounted = new AbortController();
        const leading = a.leader('poll').run(
            (term) => {
                led.push(term.number);
                return term.answer(() => 'answer');
            },
            { releaseSignal: unmounted.signal },
        );
        leading.catch(() => {});
        return { leading, cleanUp: () => unmounted.abort() };
    };
    /** @type {number[]} */
    const led = [];
    const first = effect(led);
    first.cleanUp();
    await assert.rejects(first.leading, isDom('AbortError'));
    const second = effect(led);
    await until(() => led.length === 1);
    assert.equal(await b.leader('poll').call('question'), 'answer');
    second.cleanUp();
    await assert.rejects(second.leading, isDom('AbortError'));
    assert.equal(await b.leader('poll').run(() => 'b'), 'b');

    const unmounted = new AbortController();
    const term = await b.leader('poll').lead({ releaseSignal: unmounted.signal });
    const answering = term.answer(() => 1);
    unmounted.abort(new RangeError('left'));
    await assert.rejects(answering, RangeError);
    assert.equal(term.leads, false);
    await close();
});
