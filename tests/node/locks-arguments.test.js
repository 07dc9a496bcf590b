/** Arguments and options of locks: which are refused, and by which error. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isSignal } from '../../js/common/check-arguments.js';
import { tabs } from './open-tabs.js';
import { failsWith, isDom } from './expected-errors.js';

test('an AbortSignal of another realm is accepted, and an object that only looks like one is not', () => {
    assert.equal(isSignal(Object.setPrototypeOf(new AbortController().signal, {})), true);
    for (const bad of [{ aborted: true }, () => {}, 7, null]) assert.equal(isSignal(bad), false);
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
        await assert.rejects(run(both), isDom('NotSupportedError'), JSON.stringify(both));
    }
    await assert.rejects(
        a.lockAll(['x', 'x'], () => {}),
        failsWith('invalid-argument'),
    );
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
