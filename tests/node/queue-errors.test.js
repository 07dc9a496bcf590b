/**
 * Errors of queues: wrong arguments, values and rows that cannot be stored or read, full and missing stores, and what
 * a handler throws.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TabacusError } from 'tabacus';
import { details } from './page-waits.js';
import { tabs } from './open-tabs.js';
import { failsWith } from './expected-errors.js';

test('a value that can be cloned but not stored is refused, and no other job fails with it (HTML §2.7.3)', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    const options = { attempts: 1 };
    const queue = a.queue('q', options);
    const module = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
    const memory = new WebAssembly.Memory({ shared: true, initial: 1, maximum: 1 });
    const values = [
        new SharedArrayBuffer(4),
        { in: [new Map([[1, new Uint8Array(new SharedArrayBuffer(1))]])] },
        new Set([module]),
        new Error('of many threads', { cause: new SharedArrayBuffer(4) }),
        [new TypeError('in it', { cause: { module } })],
        memory,
    ];
    const all = await Promise.allSettled(
        [new Date(1), ...values, new Date(2)].map((value) => queue.enqueue(value)),
    );
    assert.deepEqual(
        all.map(({ status }) => status),
        ['fulfilled', ...values.map(() => 'rejected'), 'fulfilled'],
    );
    for (const { reason } of /** @type {PromiseRejectedResult[]} */ (all.slice(1, -1)))
        assert.ok(failsWith('not-cloneable')(reason));
    b.queue('q', options).handle(({ payload }) => (Number(payload) === 1 ? module : 'done'));
    const [first, last] = [all[0], all.at(-1)].map(
        (one) => /** @type {PromiseFulfilledResult<import('tabacus').Receipt>} */ (one).value.result,
    );
    await assert.rejects(/** @type {Promise<unknown>} */ (first), failsWith('not-cloneable'));
    assert.equal(await last, 'done');
    await close();
});

test('wrong arguments are refused at once, by name, and change nothing', async () => {
    const {
        tabs: [a],
        close,
    } = await tabs(1);
    const queue = a.queue('q', { limit: 2 });
    const both = await Promise.allSettled([1, 2, 3].map((n) => queue.enqueue(n)));
    assert.deepEqual(
        both.map(({ status }) => status),
        ['fulfilled', 'fulfilled', 'rejected'],
    );
    assert.ok(failsWith('queue-full')(/** @type {any} */ (both[2]).reason));
    assert.equal(queue.size, 2);
    await assert.rejects(
        queue.enqueue(() => {}),
        failsWith('not-cloneable'),
    );
    await assert.rejects(queue.enqueue(1, { priority: 1.5 }), failsWith('invalid-argument'));
    await assert.rejects(queue.enqueue(1, /** @type {any} */ ({ prio: 1 })), failsWith('invalid-argument'));
    assert.throws(() => a.queue('r', { concurrency: 0 }), failsWith('invalid-argument'));
    assert.throws(
        () => a.queue('r', /** @type {any} */ ({ order: 'random' })),
        failsWith('invalid-argument'),
    );
    assert.throws(() => a.queue(''), failsWith('invalid-argument'));
    assert.throws(() => a.queue('q', { limit: 3 }), failsWith('kind-mismatch'));
    assert.equal(a.queue('q'), queue);
    assert.throws(() => queue.handle(/** @type {any} */ (1)), failsWith('invalid-argument'));
    assert.throws(() => a.queue('r', /** @type {any} */ (null)), failsWith('invalid-argument'));
    await assert.rejects(queue.enqueue(1, { key: '' }), failsWith('invalid-argument'));
    await assert.rejects(queue.cancel(''), failsWith('invalid-argument'));
    // Wrong arguments are refused also before the queue is loaded.
    const fresh = a.queue('fresh');
    fresh.handle('one', () => {});
    const none = () => {};
    for (const wrong of [
        { kind: 'one' },
        { kinds: [] },
        { kinds: [1] },
        { kinds: ['two', 'one'] },
        {},
        null,
    ]) {
        assert.throws(() => fresh.handle(none, /** @type {any} */ (wrong)), failsWith('invalid-argument'));
    }
    const end = fresh.handle('two', none);
    end();
    end();
    fresh.handle('two', none);
    const options = { key: 'before' };
    const asked = fresh.enqueue(1, options);
    options.key = 'after';
    assert.equal((await asked).key, 'before');
    await close();
    await assert.rejects(queue.enqueue(1), failsWith('closed'));
    assert.throws(() => queue.handle(none), failsWith('closed'));
    assert.throws(() => queue.subscribe(none), failsWith('closed'));
});

test('on a full disk the job that does not fit is refused as quota-exceeded, and no other', async () => {
    const {
        tabs: [a],
        origin,
        close,
    } = await tabs(1);
    const queue = a.queue('q');
    await queue.enqueue('first');
    origin.onWrite = (transaction) => {
        const { objectStore } = transaction;
        transaction.objectStore = (/** @type {string} */ name) => {
            const store = objectStore.call(transaction, name);
            const put = store.put.bind(store);
            store.put = (/** @type {any} */ value, /** @type {any} */ key) => {
                if (typeof value === 'string' && value.includes('huge'))
                    throw new DOMException('full', 'QuotaExceededError');
                return put(value, key);
            };
            return store;
        };
    };
    const [small, huge] = await Promise.allSettled([queue.enqueue('small'), queue.enqueue('huge')]);
    assert.equal(small?.status, 'fulfilled');
    assert.ok(failsWith('quota-exceeded')(/** @type {any} */ (huge)?.reason));
    assert.deepEqual(
        (await queue.jobs()).map(({ payload }) => payload),
        ['first', 'small'],
    );
    await close();
});

test('without Web Locks a queue works over a lease, and without IndexedDB it is unavailable', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2, { navigator: {} });
    let runs = 0;
    for (const tab of [a, b]) tab.queue('q').handle(() => ++runs);
    const receipts = await Promise.all([1, 2, 3].map((n) => a.queue('q').enqueue(n)));
    await Promise.all(receipts.map(({ result }) => result));
    assert.equal(runs, 3);
    await close();
    const bare = await tabs(1, { indexedDB: undefined });
    const warnings = details(bare.tabs[0], 'warning');
    bare.tabs[0].queue('q').handle(() => {})();
    bare.tabs[0].queue('q').subscribe(() => {})();
    await assert.rejects(bare.tabs[0].queue('q').enqueue(1), failsWith('unavailable'));
    await bare.until(() => warnings.length === 2);
    assert.deepEqual(
        warnings.map(({ code, subject }) => [code, subject]),
        [
            ['unavailable', 'q'],
            ['unavailable', 'q'],
        ],
    );
    assert.deepEqual(bare.origin.errors, []);
    await bare.close();
});

test('unreadable rows are quarantined with a warning', async () => {
    const {
        tabs: [a],
        origin,
        close,
        until,
    } = await tabs(1);
    const warnings = details(a, 'warning');
    const queue = a.queue('q');
    for (const n of [1, 2]) await queue.enqueue(n);
    await origin.records('default', 'jobs', (jobs) =>
        jobs.put({ some: 'thing' }, 'q/r//10004503599627370495'),
    );
    /** @type {any[]} */
    const done = [];
    queue.handle(({ payload }) => void done.push(payload));
    await queue.onIdle();
    await until(() => warnings.length > 0);
    assert.equal(warnings[0].code, 'corrupt-record');
    assert.deepEqual(done, [2]);
    await close();
});

test('an error of a handler arrives with its class, name, message and code: in the result, in events and in the dead letter', async () => {
    const {
        tabs: [a, b],
        close,
        until,
    } = await tabs(2);
    const thrown = [
        new DOMException('full', 'QuotaExceededError'),
        new DOMException('no', 'NotAllowedError'), // a name without a legacy code
        Object.assign(new Error('not found'), { code: 404 }),
        Object.assign(new RangeError('far'), { code: 'FAR' }),
        new TabacusError('closed', 'shut'),
    ];
    b.queue('q', { attempts: 1 }).handle(({ payload }) => {
        throw thrown[payload];
    });
    const queue = a.queue('q', { attempts: 1 });
    /** @type {any[]} */
    const errors = [];
    queue.subscribe(({ type, error }) => type === 'failed' && errors.push(error));
    for (const [at, { name, message, code, constructor }] of /** @type {[number, any][]} */ ([
        ...thrown.entries(),
    ])) {
        const reason = await (await queue.enqueue(at)).result.catch((error) => error);
        const letter = (await queue.deadLetters()).find(({ payload }) => payload === at);
        await until(() => errors.length === at + 1);
        for (const error of [reason, letter?.error, errors[at]]) {
            assert.ok(error instanceof constructor, `${constructor.name}: ${error}`);
            assert.deepEqual([error.name, error.message, error.code], [name, message, code]);
        }
    }
    await close();
});

test('a payload that cannot be read fails its job, and holds up no other', async () => {
    const {
        tabs: [a],
        origin,
        close,
    } = await tabs(1);
    const queue = a.queue('q', { attempts: 1 });
    const bad = await queue.enqueue('spoilt');
    await queue.enqueue('good');
    const keys = await origin.records('default', 'jobs', (jobs) => jobs.getAllKeys());
    for (const key of keys) {
        const row = await origin.records('default', 'jobs', (jobs) => jobs.get(key));
        if (!String(row).endsWith('"spoilt"')) continue;
        await origin.records('default', 'jobs', (jobs) => jobs.put(row.slice(0, -1), key));
    }
    assert.deepEqual(
        (await queue.jobs()).map(({ payload }) => payload),
        [undefined, 'good'],
    );
    /** @type {any[]} */
    const done = [];
    queue.handle(({ payload }) => void done.push(payload));
    await assert.rejects(bad.result, { name: 'SyntaxError' });
    await queue.onIdle();
    assert.deepEqual(done, ['good']);
    assert.deepEqual(
        (await queue.deadLetters()).map(({ payload }) => payload),
        [undefined],
    );
    await close();
});

test('a thrown value or a payload whose properties throw holds up no other job', async () => {
    const {
        tabs: [a],
        close,
    } = await tabs(1);
    const queue = a.queue('q', { attempts: 1 });
    const hostile = {
        get message() {
            throw new Error('hostile');
        },
    };
    await assert.rejects(queue.enqueue(hostile), failsWith('not-cloneable'));
    const thrown = [
        hostile,
        Object.create(null),
        Object.assign(new Error(), { message: Object.create(null) }),
    ];
    queue.handle(({ payload }) => {
        if (payload in thrown) throw thrown[payload];
    });
    for (const index of [0, 1, 2, 3]) {
        const { result } = await queue.enqueue(index);
        if (index < 3) await assert.rejects(result, Error);
        else await result;
    }
    assert.equal((await queue.deadLetters()).length, 3);
    assert.deepEqual(await Promise.all([queue.pause(), queue.resume(), queue.onIdle()]), [
        undefined,
        undefined,
        undefined,
    ]);
    await close();
});

test('a dead letter that a full queue refuses stays, and a joined job keeps its kind and the stricter delivery', async () => {
    const {
        tabs: [a],
        close,
    } = await tabs(1);
    const dying = a.queue('dying', { attempts: 1, limit: 1 });
    const stop = dying.handle(() => Promise.reject(new Error('x')));
    await (await dying.enqueue('precious')).result.catch(() => {});
    stop();
    await dying.enqueue('instead of it');
    const [letter] = await dying.deadLetters();
    await assert.rejects(async () => letter?.retry(), failsWith('queue-full'));
    assert.equal((await dying.deadLetters()).length, 1);

    const many = a.queue('many', { attempts: 1 });
    const stopped = many.handle('dead', () => Promise.reject(new Error('x')));
    await (await many.enqueue('precious', { kind: 'dead' })).result.catch(() => {});
    stopped();
    await Promise.all(
        Array.from({ length: 64 }, (_, at) => many.enqueue(at, { kind: `k${at}`, key: `${at}` })),
    );
    const [lost] = await many.deadLetters();
    await assert.rejects(async () => lost?.retry(), failsWith('unavailable'));
    assert.equal((await many.deadLetters()).length, 1);
    await assert.rejects(
        many.enqueue('for another handler', { kind: 'new', key: '0' }),
        failsWith('unavailable'),
    );
    const kept = (await many.jobs()).find(({ key }) => key === '0');
    assert.deepEqual([kept?.payload, kept?.kind], [0, 'k0']);

    const joined = a.queue('joined');
    await joined.enqueue('first', { key: 'k' });
    await joined.enqueue('pay once', { key: 'k', delivery: 'at-most-once' });
    assert.deepEqual(
        (await joined.jobs()).map(({ payload, delivery }) => [payload, delivery]),
        [['pay once', 'at-most-once']],
    );
    await close();
});
