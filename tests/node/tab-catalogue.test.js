/** The strategies of the catalogue: how they are chosen, configured and loaded, and their guarantees. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, TabacusError } from 'tabacus';
import { createOrigin } from 'tabacus/emulator';
import { catalogueCounter, countGuarantee } from '../../js/core/generated/coordination.js';
import { tabCounter, tabOpen } from '../../js/core/generated/counters.js';
import { Host } from '../../js/host/host.js';
import { guaranteeFrom } from '../../js/tab/guarantee.js';
import { STRATEGIES } from '../../js/common/strategies.js';
import { firePage, settled } from './page-waits.js';
import { testOrigin } from './test-origin.js';
import { startBridge, wasmOf } from './program.js';

/** @typedef {import('tabacus').Strategy} Strategy */

const strategies = /** @type {Exclude<Strategy, 'replicated'>[]} */ (
    STRATEGIES.filter((strategy) => strategy !== 'replicated')
);

/** @param {string} code */
const failsWith = (code) => (/** @type {any} */ error) =>
    error instanceof TabacusError && error.code === code;

/** @param {string} argument @param {unknown} value */
const refuses = (argument, value) => (/** @type {any} */ error) =>
    failsWith('invalid-argument')(error) && error.argument === argument && Object.is(error.value, value);

/** Two tabs, which see at once what another writes to localStorage. */
const pair = async () => {
    const origin = await testOrigin({ storage: 'interleaved' });
    const windows = [origin.window(), origin.window()];
    const [a, b] = await Promise.all(windows.map((window) => open({ window })));
    const until = origin.until.bind(origin);
    /** Reads until the value arrives by storage events and deltas. @param {any} counter @param {number} value */
    const reads = (counter, value) => until(async () => (await counter.read()) === value);
    return { origin, windows, until, reads, a: /** @type {any} */ (a), b: /** @type {any} */ (b) };
};

test('every strategy counts over two tabs, and holds no lock after they are closed', async () => {
    const { origin, a, b, reads } = await pair();
    for (const strategy of strategies) {
        const options = strategy === 'deltas' ? { strategy, threshold: 0 } : { strategy };
        const [here, there] = [a.counter('c', options), b.counter('c', options)];
        assert.equal(here.value, 0);
        let sum = 0;
        for (const n of [1, 5, -2]) {
            for (const counter of [here, there]) {
                assert.equal(await counter.add(n), (sum += n), strategy);
                await counter.flush();
                await Promise.all([reads(here, sum), reads(there, sum)]);
            }
        }
        assert.equal(here.value, sum);
        assert.equal(await here.add(), sum + 1);
    }
    await Promise.all([a.close(), b.close()]);
    assert.deepEqual(await origin.heldLocks(), []);
    const c = await open({ window: origin.window() });
    for (const strategy of strategies) assert.equal(await c.counter('c', { strategy }).read(), 9, strategy);
    await c.close();
});

test('the guarantee of a counter is the same before its module is loaded as in the module', async () => {
    const { windows, a, b } = await pair();
    const host = new Host(/** @type {any} */ (windows[0]), 'guarantees');
    const bridge = await startBridge(host, ['locks', 'catalogue']);
    for (const strategy of strategies) {
        for (const durability of /** @type {const} */ (['relaxed', 'strict'])) {
            const address = catalogueCounter(bridge, 'c', { strategy, durability, times: {} });
            const fromModule = guaranteeFrom(countGuarantee(bridge, address));
            const counter = a.counter('c', { strategy });
            const strict =
                fromModule.durability === 'strict' ? a.counter('c', { strategy, durability }) : counter;
            assert.deepEqual(strict.guarantee, fromModule);
            assert.ok(Object.isFrozen(counter.guarantee) && Object.isFrozen(counter.guarantee.losses.cached));
        }
    }
    host.dispose();
    await Promise.all([a.close(), b.close()]);
});

test('the guarantee of the default strategy equals that of the program, in each store', async () => {
    const stores = /** @type {const} */ ({
        indexeddb: {},
        localstorage: { indexedDB: undefined },
        memory: { indexedDB: undefined, localStorage: undefined },
    });
    for (const [store, lacks] of Object.entries(stores)) {
        const window = (await testOrigin()).window(lacks);
        const tab = await open({ window, allowWeaker: true });
        assert.equal(tab.capabilities.store, store);
        const host = new Host(/** @type {any} */ (window), 'guarantees');
        const bridge = await startBridge(host, ['locks', 'catalogue']);
        await tabOpen(bridge);
        for (const durability of /** @type {const} */ (['relaxed', 'strict'])) {
            const fromProgram = guaranteeFrom(countGuarantee(bridge, tabCounter(bridge, 'c', durability)));
            assert.deepEqual(
                tab.counter('c', { durability }).guarantee,
                fromProgram,
                `${store}, ${durability}`,
            );
        }
        host.dispose();
        await tab.close();
    }
});

test('guarantees list the losses and excesses of a strategy as data', async () => {
    const { a, b } = await pair();
    const { losses: ours, flushNeeded } = a.counter('c').guarantee;
    assert.ok(!ours.cached.includes('concurrent updates') && !ours.cached.includes('tab killed'));
    assert.ok(flushNeeded);
    const { losses: strict } = b.counter('s', { durability: 'strict' }).guarantee;
    assert.deepEqual(
        ours.cached.filter((/** @type {any} */ cause) => !strict.cached.includes(cause)),
        ['browser crashed'],
    );
    const { losses, excesses, needs } = a.counter('c', { strategy: 'locked' }).guarantee;
    assert.ok(losses.cached.includes('concurrent updates'));
    assert.ok(!losses.mutexed.includes('concurrent updates'));
    assert.ok(losses.mutexed.includes('site data cleared'));
    assert.deepEqual(excesses, { mutexed: [], interleaved: [], cached: [] });
    assert.deepEqual(needs, ['storage', 'web-locks']);
    await Promise.all([a.close(), b.close()]);
});

test('each strategy has its own options, and they have ranges', async () => {
    const { a, b, reads } = await pair();
    const counter = (/** @type {any} */ options) => () => a.counter('c', options);
    for (const [options, argument] of /** @type {[any, string][]} */ ([
        [{ strategy: 'naive', delay: 5 }, 'options.delay'],
        [{ delay: 5 }, 'options.delay'],
        [{ strategy: 'batched', threshold: 5 }, 'options.threshold'],
        [{ strategy: 'lamport', forceafter: 500 }, 'options.forceafter'],
        [{ strategy: 'lamport', delay: -1 }, 'delay'],
        [{ strategy: 'lamport', delay: '5' }, 'delay'],
        [{ strategy: 'lamport', backOff: 0 }, 'backOff'],
        [{ strategy: 'lamport', forceAfter: 3_600_001 }, 'forceAfter'],
        [{ strategy: 'log', foldAfter: NaN }, 'foldAfter'],
        [{ strategy: 'optimistic', backOff: 1.5 }, 'backOff'],
        [{ strategy: 'deltas', threshold: null }, 'threshold'],
        [{ strategy: 'batched', interval: Infinity }, 'interval'],
    ])) {
        assert.throws(counter(options), refuses(argument, options[argument.replace('options.', '')]));
    }
    const [one, other] = [
        a.counter('c', { strategy: 'batched', interval: 20 }),
        a.counter('c', { strategy: 'batched' }),
    ];
    assert.notEqual(one, other);
    assert.equal(one, a.counter('c', { interval: 20, strategy: 'batched' }));
    assert.equal(other, a.counter('c', { strategy: 'batched', interval: undefined }));
    await one.add(2);
    await reads(b.counter('c', { strategy: 'batched' }), 2);
    await Promise.all([a.close(), b.close()]);
});

test('subscribers are called with the value once it is known, and after changes', async () => {
    const { a, b, until } = await pair();
    const [here, there] = [
        a.counter('c', { strategy: 'eventual' }),
        b.counter('c', { strategy: 'eventual' }),
    ];
    /** @type {number[]} */
    const received = [];
    here.subscribe((/** @type {number} */ value) => received.push(value));
    assert.deepEqual(received, [0]);
    await there.add(2);
    await there.add(3);
    await until(() => received.at(-1) === 5);
    await Promise.all([a.close(), b.close()]);
});

test('a page that is left closes its connections and releases its locks, and counts on when it is restored', async () => {
    const { origin, windows, a, b } = await pair();
    const counters = strategies.map((strategy) => a.counter('c', { strategy }));
    for (const counter of counters) await counter.add(1);
    firePage(windows[0], 'pagehide');
    await origin.until(async () => (await origin.heldLocks()).every((name) => !name.includes('/log/')));
    firePage(windows[0], 'pageshow');
    for (const counter of counters) assert.equal(await counter.add(1), 2);
    await Promise.all([a.close(), b.close()]);
    assert.deepEqual(await origin.heldLocks(), []);
});

test('close() waits for calls that wait for the module, and later calls are refused', async () => {
    const { a, b } = await pair();
    const counter = a.counter('c', { strategy: 'naive' });
    const adding = counter.add(1);
    await a.close();
    assert.equal(await adding, 1);
    await assert.rejects(counter.read(), failsWith('closed'));
    assert.throws(() => counter.value, failsWith('closed'));
    await b.close();
});

test('the tab emits a warning for a record that cannot be read', async () => {
    const { origin, a, b } = await pair();
    origin.localStorage.setItem('tabacus/default/naive/c', 'many');
    const warned = new Promise((resolve) => a.addEventListener('warning', resolve));
    assert.equal(await a.counter('c', { strategy: 'naive' }).add(1), 1);
    const { detail } = /** @type {any} */ (await warned);
    assert.equal(detail.code, 'corrupt-record');
    assert.equal(origin.localStorage.getItem('tabacus/default/naive/c/aside'), 'many');
    await Promise.all([a.close(), b.close()]);
});

test('open() takes a piece from another place, and each call rejects if that piece is wrong', async () => {
    const bytes = wasmOf('catalogue');
    const origin = await testOrigin();
    const good = await open({ window: origin.window(), wasm: { catalogue: bytes } });
    assert.equal(await good.counter('c', { strategy: 'log' }).add(4), 4);
    await good.close();
    const asBefore = await open({ window: origin.window(), catalogue: bytes });
    assert.equal(await asBefore.counter('c', { strategy: 'log' }).add(4), 8);
    await asBefore.close();
    for (const [catalogue, code] of /** @type {[any, string][]} */ ([
        [new Uint8Array([1, 2, 3]), 'invalid-argument'],
        [await WebAssembly.compile(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0])), 'invalid-argument'],
    ])) {
        const tab = await open({ window: origin.window(), wasm: { catalogue } });
        const counter = tab.counter('c', { strategy: 'log' });
        await assert.rejects(counter.add(1), failsWith(code));
        await assert.rejects(counter.read(), failsWith(code));
        assert.equal(tab.counter('c').add(1), 1);
        await tab.close();
    }
});

test('flush() waits for the adds before it, and close() waits for all adds', async () => {
    for (const strategy of strategies) {
        const origin = await testOrigin();
        const tab = await open({ window: origin.window() });
        const counter = tab.counter('c', { strategy });
        const adds = [counter.add(1), counter.add(2)];
        await counter.flush();
        adds.push(counter.add(4));
        const closing = tab.close();
        await assert.rejects(counter.add(8), failsWith('closed'));
        await closing;
        assert.ok(
            (await Promise.allSettled(adds)).every(({ status }) => status === 'fulfilled'),
            strategy,
        );
        const later = await open({ window: origin.window() });
        const options = strategy === 'deltas' ? { strategy, threshold: 0 } : { strategy };
        // Naive counting may lose one of two simultaneous adds of one tab.
        const least = strategy === 'naive' ? 4 : 7;
        assert.ok((await later.counter('c', /** @type {any} */ (options)).read()) >= least, strategy);
        await later.close();
    }
});

test('subscribers receive earlier values and the changes of other tabs, whatever the store', async () => {
    for (const strategy of strategies) {
        const { a, b, until } = await pair();
        const options = strategy === 'deltas' ? { strategy, threshold: 0 } : { strategy };
        await b.counter('c', options).add(5);
        await b.counter('c', options).flush();
        /** @type {number[]} */
        const received = [];
        a.counter('c', options).subscribe((/** @type {number} */ value) => received.push(value));
        await until(() => received.at(-1) === 5);
        await b.counter('c', options).add(1);
        await b.counter('c', options).flush();
        await until(() => received.at(-1) === 6);
        await Promise.all([a.close(), b.close()]);
    }
});

test('subscribers of a batched counter are called once a batch is written', async () => {
    const { a, b, until } = await pair();
    const options = /** @type {const} */ ({ strategy: 'batched', interval: 5 });
    /** @type {number[]} */
    const received = [];
    a.counter('c', options).subscribe((/** @type {number} */ value) => received.push(value));
    await until(() => received.at(-1) === 0);
    for (let n = 1; n <= 3; n++) {
        await b.counter('c', options).add(1);
        await until(() => received.at(-1) === n);
    }
    await Promise.all([a.close(), b.close()]);
});

test('a key of localStorage that is no well-formed string does not hold up the strategy log', async () => {
    const { origin, a, b } = await pair();
    origin.localStorage.setItem('tabacus/default/log/c/entry/\ud800', 'x');
    assert.equal(await a.counter('c', { strategy: 'log' }).add(1), 1);
    await Promise.all([a.close(), b.close()]);
});

test('a lost database is reported also if only strategies of the catalogue count in it', async () => {
    const { origin, a, b } = await pair();
    await a.counter('c', { strategy: 'transactional' }).add(41);
    await origin.until(() => origin.localStorage.getItem('tabacus/default/database-generation') !== null);
    await Promise.all([a.close(), b.close()]);
    await settled(origin.indexedDB.deleteDatabase('tabacus/default'));
    const later = await open({ window: origin.window() });
    /** @type {import('../../js/tab/tabacus-event.js').StoreLostDetail[]} */
    const losses = [];
    later.addEventListener('storelost', ({ detail }) => losses.push(detail));
    assert.equal(await later.counter('c', { strategy: 'transactional' }).read(), 0);
    await origin.until(() => losses.length > 0);
    assert.ok(losses[0]?.previous && losses[0].generation !== losses[0].previous);
    await later.close();
});

test('a tab that reads a corrupt value emits a warning', async () => {
    const { origin, a, b } = await pair();
    await a.counter('c', { strategy: 'transactional' }).add(41);
    const database = await origin.connect('tabacus/default');
    await settled(database.transaction('counters', 'readwrite').objectStore('counters').put('many', 'c'));
    database.close();
    const warned = new Promise((resolve) => b.addEventListener('warning', resolve));
    assert.equal(await b.counter('c', { strategy: 'transactional' }).read(), 0);
    assert.equal(/** @type {any} */ (await warned).detail.code, 'corrupt-record');
    await Promise.all([a.close(), b.close()]);
});

test('a subscriber may add, and is not called within its own add()', async () => {
    const { a, b, until } = await pair();
    const counter = a.counter('c', { strategy: 'naive' });
    counter.subscribe((/** @type {number} */ value) => {
        if (value < 500) void counter.add(1);
    });
    await until(() => counter.value === 500);
    await Promise.all([a.close(), b.close()]);
});

test('if storage is too full for quarantine, an unreadable record stays, one warning is emitted, and reads go on', async () => {
    for (const strategy of /** @type {const} */ (['naive', 'log', 'eventual', 'locked'])) {
        const origin = await createOrigin({ storage: 'interleaved', quota_bytes: 20_000 });
        const { window } = origin.openTab();
        const tab = await open({ window });
        const counter = tab.counter('c', { strategy });
        await counter.add(1);
        const { localStorage } = window;
        const [key = ''] = Object.keys(localStorage).filter(
            (one) => one.includes(`/${strategy}`) && !one.endsWith('/news'),
        );
        localStorage.setItem(key, `~${'z'.repeat(100)}`);
        for (let size = 1_000; size >= 1; size = Math.floor(size / 2)) {
            try {
                for (let i = 0; ; ++i) localStorage.setItem(`${size}-${i}`, 'x'.repeat(size));
            } catch {
                // The storage is full for items of this size: go on with smaller ones.
            }
        }
        /** @type {string[]} */
        const warnings = [];
        tab.addEventListener('warning', ({ detail }) => warnings.push(detail.code));
        const known = strategy === 'eventual' ? 1 : 0; // a tab knows its own adds to an eventual counter
        assert.deepEqual([await counter.read(), await counter.read()], [known, known], strategy);
        assert.deepEqual(warnings, ['corrupt-record'], strategy);
        assert.match(localStorage.getItem(key) ?? '', /^~z/, strategy);
        await assert.rejects(counter.add(1), { code: 'quota-exceeded' }, strategy);
        await tab.close();
        origin.close();
    }
});
