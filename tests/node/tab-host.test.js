/** The adapters of the host, without a program: what each of them reports about the platform. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { hostEvents } from '../../js/core/generated/host-events.js';
import { Host } from '../../js/host/host.js';
import { settled } from './page-waits.js';
import { testOrigin } from './test-origin.js';

const stores = ['meta', 'claims', 'rows', 'counters', 'aside'];

/**
 * A host, and the list of its reports.
 *
 * @param {import('./test-origin.js').TestOrigin} origin
 * @param {Parameters<typeof origin.window>[0]} [replaced]
 */
async function hostIn(origin, replaced) {
    const host = new Host(/** @type {any} */ (origin.window(replaced)), 'n');
    await host.database.ready();
    /** @type {{ event: string, number: number, texts: (string | null)[] }[]} */
    const reports = [];
    /** @param {string} event */
    const record =
        (event) =>
        (number = 0, /** @type {any[]} */ ...texts) =>
            void reports.push({ event, number, texts: texts.flat().filter((text) => text !== undefined) });
    host.connect({
        settled: record('settled'),
        failed: record('failed'),
        storageChanged: (...change) =>
            void reports.push({ event: 'storageChanged', number: 0, texts: change }),
        databaseCreated: (...loss) => void reports.push({ event: 'databaseCreated', number: 0, texts: loss }),
        databaseClosed: record('databaseClosed'),
        lockLost: record('lockLost'),
        message: record('message'),
        lifecycle: (...events) => void reports.push({ event: 'lifecycle', number: 0, texts: events }),
    });
    let last = 100;
    /**
     * Begins an operation and resolves with the report that settles it.
     * @param {(operation: number) => unknown} start
     */
    const settling = async (start) => {
        const operation = ++last;
        start(operation);
        const mine = () =>
            reports.find(({ event, number }) => /settled|failed/.test(event) && number === operation);
        await origin.until(() => mine() !== undefined);
        const { event, texts } = /** @type {NonNullable<ReturnType<typeof mine>>} */ (mine());
        return { event, texts };
    };
    /** @param {boolean} [write] */
    const begin = (write = true) => {
        const operation = ++last;
        host.database.begin(operation, {
            scope: stores,
            access: write ? 'readwrite' : 'readonly',
            durability: 'relaxed',
        });
        const transaction = host.database.transaction(operation);
        assert.ok(transaction, 'the transaction is ready at once');
        return { transaction, operation };
    };
    return { host, reports, settling, begin };
}

test('rows are read as they were written, and a row that is no string is read as null', async () => {
    const origin = await testOrigin();
    const { host, settling, begin } = await hostIn(origin);
    const { transaction } = begin();
    transaction.put('rows', 'a/1', 'x\0😀');
    transaction.put('rows', 'b/1', 'other');
    assert.deepEqual(await settling((id) => transaction.commit(id)), { event: 'settled', texts: [] });
    await origin.records('n', 'rows', (rows) => rows.put({ an: 'object' }, 'a/2'));
    await origin.records('n', 'rows', (rows) => rows.put('under a number', 7));
    const { transaction: reading } = begin(false);
    const [all, one, none] = await Promise.all([
        settling((id) => reading.list(id, 'rows', 'a/')),
        settling((id) => reading.get(id, 'rows', 'b/1')),
        settling((id) => reading.get(id, 'rows', 'c')),
    ]);
    assert.deepEqual(all.texts, ['a/1', 'x\0😀', 'a/2', null]);
    assert.deepEqual(one.texts, ['b/1', 'other']);
    assert.deepEqual(none.texts, []);
    host.dispose();
});

test('a second holder of a subject aborts the whole transaction as fenced', async () => {
    const { host, settling, begin } = await hostIn(await testOrigin());
    const { transaction: first } = begin();
    first.claim('slot', 'me');
    assert.equal((await settling((id) => first.commit(id))).event, 'settled');
    const { transaction: second } = begin();
    second.put('rows', 'a', '1');
    second.claim('slot', 'you');
    const outcome = await settling((id) => second.commit(id));
    assert.equal(outcome.event, 'failed');
    assert.equal(outcome.texts[0], 'fenced');
    const { transaction: third } = begin(false);
    const [row, holder] = await Promise.all([
        settling((id) => third.get(id, 'rows', 'a')),
        settling((id) => third.holder(id, 'slot')),
    ]);
    assert.deepEqual(row.texts, []);
    assert.deepEqual(holder.texts, ['me']);
    host.dispose();
});

test('a transaction that the core forgets before a commit writes nothing', async () => {
    const { host, settling, begin } = await hostIn(await testOrigin());
    const { transaction, operation } = begin();
    transaction.put('rows', 'a', '1');
    host.database.forget(operation);
    const { transaction: reading } = begin(false);
    assert.deepEqual((await settling((id) => reading.get(id, 'rows', 'a'))).texts, []);
    host.dispose();
});

test('an aborted transaction fails all its operations, unless its commit was requested before', async () => {
    const { host, settling, begin } = await hostIn(await testOrigin());
    const { transaction: aborted } = begin();
    aborted.put('rows', 'a', '1');
    const before = settling((id) => aborted.get(id, 'rows', 'a'));
    aborted.abort();
    const after = settling((id) => aborted.get(id, 'rows', 'a'));
    const outcome = settling((id) => aborted.commit(id));
    for (const one of [before, after, outcome]) {
        const { event, texts } = await one;
        assert.deepEqual([event, texts[0]], ['failed', 'store-failed']);
    }
    const { transaction: kept } = begin();
    kept.put('rows', 'b', '2');
    const committed = settling((id) => kept.commit(id));
    kept.abort();
    assert.equal((await committed).event, 'settled');
    const { transaction: reading } = begin(false);
    const rows = await settling((id) => reading.list(id, 'rows', ''));
    assert.deepEqual(rows.texts, ['b', '2']);
    host.dispose();
});

test('a transaction that the core forgets after a commit writes everything', async () => {
    const { host, settling, begin } = await hostIn(await testOrigin());
    const { transaction, operation } = begin();
    transaction.put('rows', 'a', '1');
    const outcome = settling((id) => transaction.commit(id));
    host.database.forget(operation);
    assert.equal((await outcome).event, 'settled');
    host.dispose();
});

test('if the browser drops the connection without an abort event, a read is repeated, and a commit without a proof is unknown', async () => {
    const origin = await testOrigin();
    const { host, reports, settling, begin } = await hostIn(origin);
    const { transaction } = begin();
    const { transaction: reading } = begin(false);
    transaction.put('rows', 'a', '1');
    const outcome = settling((id) => transaction.commit(id));
    const read = settling((id) => reading.get(id, 'rows', 'a'));
    const [connection] = origin.connections;
    /** @type {any} */ (connection).onclose();
    assert.equal((await outcome).texts[0], 'unknown-commit');
    assert.deepEqual(await read, { event: 'settled', texts: ['a', '1'] });
    assert.ok(reports.some(({ event }) => event === 'databaseClosed'));
    host.dispose();
});

test('a transaction whose connection dies keeps nothing if its repetition reads something else', async () => {
    const origin = await testOrigin();
    const { host, reports, settling, begin } = await hostIn(origin);
    const { transaction: first } = begin();
    first.put('rows', 'a', '1');
    await settling((id) => first.commit(id));
    const { transaction } = begin();
    const read = settling((id) => transaction.get(id, 'rows', 'a'));
    const other = settling((id) => transaction.get(id, 'rows', 'b'));
    const put = reports.push.bind(reports);
    reports.push = (...report) => {
        reports.push = put;
        // The connection dies when one read is answered. Another tab has written before the repetition begins.
        origin.onWrite = ({ db }) =>
            (db._rawDatabase.rawObjectStores.get('rows').records.get('a').value = '2');
        origin.transactions.at(-1)._abort('UnknownError');
        return put(...report);
    };
    assert.deepEqual((await read).texts, ['a', '1']);
    const { event, texts } = await other;
    assert.deepEqual([event, texts[0]], ['failed', 'store-failed']);
    assert.match(texts[1] ?? '', /the store changed/);
    host.dispose();
});

test('afterMicrotasks() reports after the given number of microtasks', async () => {
    const { host, reports } = await hostIn(await testOrigin());
    const seen = [];
    host.clock.afterMicrotasks(2, 3);
    for (let passed = 1; passed <= 4; passed++) {
        await undefined;
        seen.push(reports.some(({ event }) => event === 'settled'));
    }
    assert.deepEqual(seen, [false, false, true, true]);
    host.dispose();
});

test('a new database is reported once, with the data loss that the browser reports', async () => {
    const origin = await testOrigin();
    const losing = (/** @type {any} */ { indexedDB }) => ({
        indexedDB: {
            open: (/** @type {any[]} */ ...given) => {
                const request = indexedDB.open(...given);
                request.addEventListener('upgradeneeded', (/** @type {Event} */ event) =>
                    Object.assign(event, { dataLoss: 'total' }),
                );
                return request;
            },
        },
    });
    const { host, reports } = await hostIn(origin, losing);
    assert.deepEqual(reports, [{ event: 'databaseCreated', number: 0, texts: ['total'] }]);
    host.dispose();
    const again = await hostIn(origin);
    assert.deepEqual(again.reports, []);
    again.host.dispose();
});

test('stores that have a name of tabacus and another shape are renamed with their records', async () => {
    const origin = await testOrigin();
    const foreign = await origin.connect('tabacus/n', {
        version: 2,
        upgrade: (database) => {
            for (const name of stores) database.createObjectStore(name);
            database.deleteObjectStore('rows');
            database.createObjectStore('rows', { autoIncrement: true }).put('theirs');
        },
    });
    foreign.close();
    const { host, settling, begin } = await hostIn(origin);
    assert.ok(host.database.available);
    const { transaction } = begin();
    transaction.put('rows', 'a', '1');
    transaction.claim('slot', 'me');
    assert.equal((await settling((id) => transaction.commit(id))).event, 'settled');
    host.dispose();
    const database = await origin.connect('tabacus/n');
    const renamed = String([...database.objectStoreNames].find((name) => name.startsWith('rows (')));
    assert.deepEqual(await settled(database.transaction(renamed).objectStore(renamed).getAll()), ['theirs']);
    database.close();
});

test('a database is made even if there is no space for a row, and is reported once', async () => {
    const origin = await testOrigin();
    const { indexedDB } = origin;
    let puts = 0;
    const full = {
        open: (/** @type {[string, number?]} */ ...args) => {
            const request = indexedDB.open(...args);
            request.addEventListener('upgradeneeded', () => {
                const create = request.result.createObjectStore.bind(request.result);
                request.result.createObjectStore = (name, options) =>
                    Object.assign(create(name, options), {
                        put: () => {
                            puts++;
                            setImmediate(() => request.transaction?.abort());
                        },
                    });
            });
            return request;
        },
    };
    const { host, reports, begin } = await hostIn(origin, { indexedDB: full });
    begin();
    assert.equal(puts, 1);
    assert.deepEqual(
        reports.map(({ event }) => event),
        ['databaseCreated', 'settled'],
    );
    host.dispose();
});

test('a database that has all store names of tabacus and another shape is converted at its first use', async () => {
    const origin = await testOrigin();
    const own = await hostIn(origin);
    own.host.dispose();
    const foreign = await origin.connect('tabacus/n', {
        version: 2,
        upgrade: (database) => {
            database.deleteObjectStore('rows');
            database.createObjectStore('rows', { autoIncrement: true }).put('theirs');
            database.deleteObjectStore('claims');
            database.createObjectStore('claims');
        },
    });
    foreign.close();
    const { host, settling, begin } = await hostIn(origin);
    /** @type {import('../../js/host/database.js').TransactionOptions} */
    const options = { scope: ['meta', 'rows'], access: 'readwrite', durability: 'relaxed' };
    const began = await Promise.all([1, 2].map(() => settling((id) => host.database.begin(id, options))));
    assert.deepEqual(
        began.map(({ event }) => event),
        ['settled', 'settled'],
    );
    const { transaction } = begin();
    transaction.put('rows', 'a', '1');
    assert.equal((await settling((id) => transaction.commit(id))).event, 'settled');
    host.dispose();
    const database = await origin.connect('tabacus/n');
    assert.equal(database.version, 3);
    assert.ok(database.transaction('claims').objectStore('claims').indexNames.contains('subject'));
    database.close();
});

test('keys that are no well-formed strings are left alone, and hold up nothing', async () => {
    const origin = await testOrigin({ storage: 'interleaved' });
    const { host, settling, begin } = await hostIn(origin);
    const { transaction } = begin();
    transaction.put('rows', 'a/1', '1');
    await settling((id) => transaction.commit(id));
    await origin.records('n', 'rows', (rows) => rows.put('2', 'a/\ud800'));
    const { transaction: reading } = begin(false);
    assert.deepEqual((await settling((id) => reading.list(id, 'rows', 'a/'))).texts, ['a/1', '1']);
    origin.localStorage.setItem('tabacus/a', '1');
    origin.localStorage.setItem('tabacus/\ud800', '2');
    assert.deepEqual((await settling((id) => host.storage.keys(id, 'tabacus/'))).texts, ['tabacus/a']);
    host.dispose();
});

test('an opaque origin has neither locks nor a database, whatever its objects, and a file has both', async () => {
    const origin = await testOrigin();
    const frame = await hostIn(origin, { origin: 'null', location: { protocol: 'https:' } });
    assert.deepEqual([frame.host.locks.available, frame.host.database.available], [false, false]);
    const file = await hostIn(origin, { origin: 'null', location: { protocol: 'file:' } });
    assert.deepEqual([file.host.locks.available, file.host.database.available], [true, true]);
    frame.host.dispose();
    file.host.dispose();
});

test('a message that is no string is dropped', async () => {
    const origin = await testOrigin();
    const { host, reports } = await hostIn(origin);
    assert.ok(host.channels.open(4, 'c'));
    const stranger = new origin.BroadcastChannel('c');
    for (const message of [7, null, { a: 1 }, 'text']) stranger.postMessage(message);
    const received = () => reports.filter(({ event }) => event === 'message');
    await origin.until(() => received().length > 0);
    assert.deepEqual(
        received().map(({ number, texts }) => [number, ...texts]),
        [[4, 'text']],
    );
    stranger.close();
    host.dispose();
});

test('a deferred message is posted before the next message or when its timer fires, and at once in a hidden page', async () => {
    const origin = await testOrigin();
    const page = Object.assign(new EventTarget(), { visibilityState: 'visible' });
    /** @type {(() => void)[]} */
    const timers = [];
    const { host } = await hostIn(origin, {
        document: page,
        setTimeout: (/** @type {() => void} */ due) => timers.push(due),
    });
    assert.ok(host.channels.open(4, 'c'));
    /** @type {unknown[]} */
    const received = [];
    const other = new origin.BroadcastChannel('c');
    other.onmessage = (/** @type {{ data: unknown }} */ { data }) => void received.push(data);
    const expectReceived = async (/** @type {string} */ all) => {
        await origin.until(() => received.length >= all.length);
        assert.equal(received.join(''), all);
    };
    const before = timers.length;
    for (const message of 'ab') host.channels.postDeferred(4, message);
    host.channels.post(4, 'c');
    await expectReceived('abc');
    assert.equal(timers.length, before + 1);
    for (const message of 'de') host.channels.postDeferred(4, message);
    assert.equal(timers.length, before + 2);
    timers.at(-1)?.();
    await expectReceived('abcde');
    page.visibilityState = 'hidden';
    host.channels.postDeferred(4, 'f');
    await expectReceived('abcdef');
    assert.equal(timers.length, before + 2);
    page.visibilityState = 'visible';
    host.channels.postDeferred(4, 'g');
    host.channels.close(4);
    await expectReceived('abcdefg');
    other.close();
    host.dispose();
});

test('locks are granted, refused, withdrawn and lost', async () => {
    const origin = await testOrigin();
    const { host, reports, settling } = await hostIn(origin);
    const plain = { mode: /** @type {const} */ ('exclusive'), ifAvailable: false, steal: false };
    const granted = { event: 'settled', texts: [] };
    let first = 0;
    assert.deepEqual(await settling((id) => host.locks.request((first = id), 'l', plain)), granted);
    const busy = await settling((id) => host.locks.request(id, 'l', { ...plain, ifAvailable: true }));
    assert.deepEqual(busy, { event: 'settled', texts: ['unavailable'] });
    const withdrawn = await settling((id) => {
        host.locks.request(id, 'l', plain);
        host.locks.abort(id);
    });
    assert.deepEqual([withdrawn.event, withdrawn.texts[0]], ['failed', 'lock-lost']);
    assert.deepEqual(await settling((id) => host.locks.request(id, 'l', { ...plain, steal: true })), granted);
    await origin.until(() => reports.some(({ event, number }) => event === 'lockLost' && number === first));
    host.dispose();
});

test('a lock that is granted after dispose() is released', async () => {
    const origin = await testOrigin();
    const { host } = await hostIn(origin);
    const plain = { mode: /** @type {const} */ ('exclusive'), ifAvailable: true, steal: false };
    host.locks.request(2, 'late', plain);
    host.dispose();
    const { host: other, settling } = await hostIn(origin);
    assert.deepEqual(await settling((id) => other.locks.request(id, 'late', plain)), {
        event: 'settled',
        texts: [],
    });
    other.dispose();
});

test('a transaction opens another connection if the last one was lost while it opened', async () => {
    const origin = await testOrigin();
    const { indexedDB } = origin;
    let losses = 1;
    const losing = {
        open: (/** @type {[string, number?]} */ ...args) => {
            const request = indexedDB.open(...args);
            request.addEventListener('success', () => {
                if (losses-- > 0) request.result.close();
            });
            return request;
        },
    };
    const { settling, host } = await hostIn(origin, { indexedDB: losing });
    /** @type {import('../../js/host/database.js').TransactionOptions} */
    const options = { scope: stores, access: 'readwrite', durability: 'relaxed' };
    assert.equal((await settling((id) => host.database.begin(id, options))).event, 'settled');
    host.dispose();
});

test('an exception of the core is reported as an error of the window, and does not reach its event handler', async () => {
    const origin = await testOrigin();
    const window = origin.window();
    const host = new Host(/** @type {any} */ (window), 'n');
    await host.database.ready();
    const fault = new Error('defect');
    host.storage.watch('tabacus/n/');
    const throws = () => {
        throw fault;
    };
    host.connect(hostEvents(throws));
    window.dispatchEvent(Object.assign(new Event('storage'), { key: null, oldValue: null, newValue: null }));
    assert.ok(origin.errors.includes(fault));
    host.dispose();
});
