/** Wrong arguments of a tab, on the bare platform of Node. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, TabacusError, TabacusRangeError } from 'tabacus';
import { wasmOf } from './program.js';

const max = Number.MAX_SAFE_INTEGER;

const badNames = [undefined, null, 7, '', 'x'.repeat(129), '\ud800', 'a\udc00b', {}, ['a'], Symbol('a'), 1n];
const badAmounts = [null, '1', 1.5, NaN, Infinity, max + 1, -max - 1, 1n, {}, true, Symbol('n')];

const none = () => {};

/**
 * @param {string} argument
 * @param {unknown} value
 */
const refuses = (argument, value) => (/** @type {any} */ error) => {
    assert.ok(error instanceof TabacusError);
    assert.equal(error.code, 'invalid-argument');
    assert.equal(error.argument, argument);
    assert.ok(Object.is(error.value, value));
    assert.ok(error.allowed);
    assert.ok(error.message.includes(error.allowed) || argument.startsWith('options'));
    return true;
};

/** @param {string} code */
const failsWith = (code) => (/** @type {any} */ error) =>
    error instanceof TabacusError && error.code === code;

test('an undefined option has its default, and null is refused', async () => {
    for (const name of ['namespace', 'wasm', 'allowWeaker', 'timeouts', 'window']) {
        await assert.rejects(open({ [name]: null }), refuses(name, null));
        const tab = await open({ [name]: undefined });
        await tab.close();
    }
    const tab = await open();
    for (const name of ['strategy', 'durability']) {
        assert.throws(() => tab.counter('c', { [name]: null }), refuses(name, null));
    }
    assert.throws(() => tab.counter('c', /** @type {any} */ (null)), refuses('options', null));
    await tab.close();
});

test('a wrong name is refused', async () => {
    const tab = await open();
    for (const name of badNames) {
        assert.throws(() => tab.counter(/** @type {any} */ (name)), refuses('name', name));
    }
    assert.equal(tab.counter('x'.repeat(128)).add(1), 1);
    assert.equal(tab.counter('\0😀').add(2), 2);
    await tab.close();
});

test('a wrong amount is refused and changes nothing', async () => {
    const tab = await open();
    const counter = tab.counter('c');
    counter.add(5);
    for (const n of badAmounts) {
        assert.throws(() => counter.add(/** @type {any} */ (n)), refuses('n', n));
    }
    assert.equal(counter.value, 5);
    assert.equal(counter.add(-0), 5);
    assert.equal(counter.add(undefined), 6);
    await tab.close();
});

test('an add beyond ±(2^53 − 1) is a RangeError and changes nothing', async () => {
    const tab = await open();
    const counter = tab.counter('c');
    assert.equal(counter.add(max), max);
    for (const n of [1, max]) {
        assert.throws(
            () => counter.add(n),
            (/** @type {any} */ error) =>
                error instanceof RangeError &&
                error instanceof TabacusRangeError &&
                error instanceof TabacusError &&
                error.code === 'out-of-range' &&
                error.value === n,
        );
    }
    assert.equal(counter.value, max);
    assert.equal(counter.add(-max), 0);
    assert.equal(counter.add(-max), -max);
    assert.throws(() => counter.add(-1), failsWith('out-of-range'));
    assert.equal(await counter.read(), -max);
    await tab.close();
});

test('unknown strategies, durabilities and options are refused', async () => {
    const tab = await open();
    const counter = (/** @type {any} */ options) => () => tab.counter('c', options);
    assert.throws(counter({ strategy: 'best' }), refuses('strategy', 'best'));
    assert.throws(counter({ strategy: null }), refuses('strategy', null));
    assert.throws(counter({ durability: 'eternal' }), refuses('durability', 'eternal'));
    assert.throws(counter({ durabilty: 'strict' }), refuses('options.durabilty', 'strict'));
    assert.throws(counter('naive'), refuses('options', 'naive'));
    assert.throws(() => tab.counter('c').subscribe(/** @type {any} */ (7)), refuses('subscriber', 7));
    await tab.close();
});

test('every call after close() is refused, except a second close()', async () => {
    const tab = await open();
    const counter = tab.counter('c');
    const stop = counter.subscribe(() => {});
    counter.add(3);
    await tab.close();
    await tab.close();
    stop();
    assert.throws(() => tab.counter('c'), failsWith('closed'));
    assert.throws(() => tab.counter('d'), failsWith('closed'));
    assert.throws(() => counter.add(1), failsWith('closed'));
    assert.throws(() => counter.value, failsWith('closed'));
    assert.throws(() => counter.subscribe(() => {}), failsWith('closed'));
    await assert.rejects(counter.read(), failsWith('closed'));
    await assert.rejects(counter.flush(), failsWith('closed'));
    assert.equal(counter.guarantee.strategy, 'replicated');
    assert.equal(tab.capabilities.store, 'memory');
});

test('a tab without a platform counts in memory, and its capabilities show it', async () => {
    const tab = await open();
    assert.deepEqual(tab.capabilities, {
        store: 'memory',
        exclusion: /** @type {any} */ (globalThis.navigator)?.locks ? 'web-locks' : 'none',
        durability: 'memory',
        mirror: false,
        opening: false,
        channel: true,
    });
    assert.ok(Object.isFrozen(tab.capabilities));
    const counter = tab.counter('c');
    assert.equal(counter.guarantee.durability, 'memory');
    assert.ok(Object.isFrozen(counter.guarantee));
    counter.add(4);
    await counter.flush();
    assert.equal(await counter.read(), 4);
    for (const strategy of /** @type {const} */ (['naive', 'log', 'locked', 'transactional', 'batched'])) {
        assert.throws(() => tab.counter('c', { strategy }), failsWith('unavailable'));
    }
    await tab.close();
});

test('open() refuses wrong options', async () => {
    const cases = /** @type {[any, string, unknown][]} */ ([
        [{ namespace: '' }, 'namespace', ''],
        [{ namespace: '\udfff' }, 'namespace', '\udfff'],
        [{ build: 'threads' }, 'options.build', 'threads'],
        [{ allowWeaker: 1 }, 'allowWeaker', 1],
        [{ wasm: 7 }, 'wasm', 7],
        [{ wasm: { locks: 7 } }, 'wasm.locks', 7],
        [{ wasm: { single: 7 } }, 'wasm.single', 7],
        [{ preload: 'locks' }, 'preload', 'locks'],
        [{ preload: ['lock'] }, 'preload', 'lock'],
        [{ window: 'w' }, 'window', 'w'],
        [{ timeouts: 7 }, 'timeouts', 7],
        [{ timeouts: { begin: 500 } }, 'timeouts.begin', 500],
        [{ timeouts: { open: 99 } }, 'timeouts.open', 99],
        [{ timeouts: { transaction: Infinity } }, 'timeouts.transaction', Infinity],
        [{ timeouts: { close: 3_600_001 } }, 'timeouts.close', 3_600_001],
        [{ timeouts: { slowLock: 0.5 } }, 'timeouts.slowLock', 0.5],
        [{ name: 'n' }, 'options.name', 'n'],
        [null, 'options', null],
    ]);
    for (const [options, argument, value] of cases) {
        await assert.rejects(open(options), refuses(argument, value));
    }
});

test('open() takes the wasm as bytes and as a module, and its error says what is wrong with it', async () => {
    const bytes = wasmOf('counters');
    for (const wasm of [bytes, await WebAssembly.compile(bytes)]) {
        const tab = await open({ wasm });
        assert.equal(tab.counter('c').add(2), 2);
        await tab.close();
    }
    const junk = new Uint8Array([1, 2, 3]);
    await assert.rejects(open({ wasm: junk }), refuses('wasm', junk));
    const empty = await WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
    await assert.rejects(open({ wasm: empty }), refuses('wasm', empty));
});

test('a durability that the store does not have is an error, unless weaker guarantees are allowed', async () => {
    const tab = await open();
    assert.throws(() => tab.counter('c', { durability: 'strict' }), failsWith('weaker-guarantee'));
    assert.throws(() => tab.counter('c', { durability: 'relaxed' }), failsWith('weaker-guarantee'));
    assert.equal(tab.counter('c', { durability: 'memory' }).add(1), 1);
    await tab.close();
    const lenient = await open({ allowWeaker: true });
    assert.equal(lenient.counter('c', { durability: 'strict' }).guarantee.durability, 'memory');
    await lenient.close();
});

test('counter() returns the same object for the same arguments', async () => {
    const tab = await open({ allowWeaker: true });
    assert.equal(tab.counter('c'), tab.counter('c', {}));
    assert.equal(tab.counter('c'), tab.counter('c', { strategy: 'replicated', durability: 'relaxed' }));
    assert.notEqual(tab.counter('c'), tab.counter('d'));
    assert.notEqual(tab.counter('c'), tab.counter('c', { durability: 'strict' }));
    await tab.close();
});

test('locks and limits report a wrong argument before a missing store', async () => {
    const tab = /** @type {any} */ (await open());
    for (const [ask, argument] of /** @type {[() => Promise<unknown>, string][]} */ ([
        [() => tab.lock('l').run(none, { mode: 'bad' }), 'mode'],
        [() => tab.lock('l').acquire({ tiemout: 1 }), 'options.tiemout'],
        [() => tab.lock('l').waitForUnlock({ timeout: -1 }), 'timeout'],
        [() => tab.lockAll(['l'], none, { mode: 'x' }), 'mode'],
        [() => tab.once('k', none, { ttl: -1 }), 'ttl'],
        [() => tab.semaphore('s', 1).run(none, { mode: 'shared' }), 'options.mode'],
        [() => tab.sequence('s').reserve(-1), 'n'],
        [() => tab.budget('b', { limit: 1 }).tryTake(Symbol('n')), 'n'],
        [() => tab.budget('b', { limit: 1 }).give(0), 'n'],
        [() => tab.rateLimit('r', { limit: 1, interval: 1 }).take({ timeout: -1 }), 'timeout'],
    ])) {
        await assert.rejects(
            ask(),
            (/** @type {any} */ error) => error.code === 'invalid-argument' && error.argument === argument,
            argument,
        );
    }
    await assert.rejects(tab.lock('l').acquire(), failsWith('weaker-guarantee'));
    await assert.rejects(tab.sequence('s').next(), failsWith('weaker-guarantee'));
    await tab.close();
});

test('open() of service workers refuses the same options as open() of pages', async () => {
    const { open: openWorker } = await import('tabacus/service-worker');
    for (const options of /** @type {any[]} */ ([null, 7, true, none, []]))
        await assert.rejects(openWorker(options), refuses('options', options));
    await assert.rejects(
        openWorker(/** @type {any} */ ({ colour: 'red' })),
        refuses('options.colour', 'red'),
    );
    const tab = await openWorker({ namespace: 'w' });
    assert.equal(tab.counter('c').add(2), 2);
    await tab.close();
});
