/**
 * How the cost of a counter grows with the number of counters in its namespace: transactions, requests and timers, which
 * the emulator counts exactly.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';
import { open } from 'tabacus';

/** The rows of one commit. */
const part = 256;
/** The rows of one page of a read. */
const page_rows = 512;

/** @typedef {Record<string, number>} Counts */

/**
 * Counts the calls of the platform in a tab, and calls `onTransaction` before each transaction.
 *
 * @param {any} window
 * @param {() => void} [onTransaction]
 */
function counted(window, onTransaction = () => {}) {
    /** @type {Counts} */
    let counts = {};
    const methods = /** @type {const} */ ([
        [window.IDBDatabase.prototype, 'transaction'],
        [window.IDBObjectStore.prototype, 'put'],
        [window.IDBObjectStore.prototype, 'get'],
        [window.IDBObjectStore.prototype, 'getAll'],
        [window, 'setTimeout'],
        [window.Storage.prototype, 'setItem'],
    ]);
    for (const [object, name] of methods) {
        const method = object[name];
        /** @this {unknown} @param {...unknown} given */
        const count = function (...given) {
            if (name === 'transaction') onTransaction();
            counts[name] = (counts[name] ?? 0) + 1;
            return method.apply(this, given);
        };
        Object.defineProperty(object, name, { value: count, configurable: true, writable: true });
    }
    /** Returns the calls since the last call of this function. */
    return () => {
        const taken = { transaction: 0, put: 0, get: 0, getAll: 0, setTimeout: 0, setItem: 0, ...counts };
        counts = {};
        return taken;
    };
}

/** Opens the namespace in a new tab. @param {import('tabacus/emulator').Origin} origin @param {() => void} [onTransaction] */
async function openTab(origin, onTransaction) {
    const page = origin.openTab();
    const take = counted(page.window, onTransaction);
    return { page, tab: await open({ window: page.window }), take };
}

/** @param {import('tabacus').Tab} tab @param {number} k */
const countersOf = (tab, k) => Array.from({ length: k }, (_, at) => tab.counter(`counter ${at}`));

/** @param {import('tabacus').ReplicatedCounter[]} counters */
async function addAndFlush(counters) {
    for (const counter of counters) counter.add(1);
    await Promise.all(counters.map((counter) => counter.flush()));
}

/** @param {any} request @returns {Promise<any>} */
const opened = (request) =>
    new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });

/** @param {import('tabacus').ReplicatedCounter[]} counters */
const readAll = (counters) => Promise.all(counters.map((counter) => counter.read()));

describe('growth of counters', () => {
    for (const k of [200, 2000]) {
        const parts = Math.ceil(k / part);

        it(`${k} counters are flushed, read and taken over in few transactions`, async () => {
            const origin = await createOrigin();
            const first = await openTab(origin);
            const counters = countersOf(first.tab, k);
            first.take();
            await addAndFlush(counters);
            const flushed = first.take();
            // They are read twice, adopt a slot, and are committed in parts.
            assert.ok(flushed.transaction <= 4 + parts, `${flushed.transaction} transactions`);
            assert.ok(flushed.put <= k + 4 + parts, `${flushed.put} rows`);
            assert.ok(flushed.get <= 24, `${flushed.get} rows are read one by one`);
            assert.ok(flushed.setItem <= k + 1);

            await first.tab.readCounters(); // loads a part of the program
            first.take();
            const values = await first.tab.readCounters();
            assert.deepEqual([values.size, new Set(values.values()).size], [k, 1]);
            assert.equal(first.take().transaction, 1, 'the pages of a snapshot share a transaction');
            await readAll(counters);
            const { transaction, get, getAll } = first.take();
            assert.deepEqual([transaction, get], [1, 1], 'the reads of one turn share a transaction');
            assert.ok(getAll <= Math.ceil(k / page_rows) + 1, `${getAll} pages`);

            counters[7]?.add(1);
            await counters[7]?.flush();
            const one = first.take();
            assert.deepEqual([one.transaction, one.put, one.getAll, one.setItem], [1, 2, 0, 1]);

            first.page.kill();
            const second = await openTab(origin);
            const opened = second.take();
            assert.deepEqual([opened.transaction, opened.get, opened.getAll], [0, 0, 0]);
            const own = countersOf(second.tab, k);
            await addAndFlush(own);
            assert.ok(second.take().transaction <= 5 + parts);
            assert.deepEqual(new Set(await readAll(own)), new Set([2, 3]));
            assert.equal(own[7]?.value, 3);

            const wait = (/** @type {number} */ time_ms) =>
                new Promise((resolve) => second.page.window.setTimeout(resolve, time_ms));
            await wait(5000); // the announcements end
            second.take();
            await wait(60_000);
            const idle = second.take();
            assert.deepEqual(
                Object.values(idle),
                [0, 0, 0, 0, 1, 0],
                'an idle minute has no timer but this one',
            );
            origin.close();
        });
    }

    it('a row that cannot be read costs its own counter a request, and none of the others', async () => {
        const k = 600;
        const origin = await createOrigin();
        const first = await openTab(origin);
        await addAndFlush(countersOf(first.tab, k));
        await first.tab.close();
        const { window } = first.page;
        const database = await opened(
            window.indexedDB.open(String((await window.indexedDB.databases())[0]?.name)),
        );
        const rows = database.transaction('rows', 'readwrite').objectStore('rows');
        const spoilt = (await opened(rows.getAllKeys()))[300];
        await opened(rows.put('spoilt', spoilt));
        database.close();

        const second = await openTab(origin);
        second.take();
        await addAndFlush(countersOf(second.tab, k));
        const { get } = second.take();
        assert.ok(get <= 26, `${get} rows are read one by one`);
        await second.tab.close();
        origin.close();
    });

    it('a few counters among many are read by requests of their own', async () => {
        const origin = await createOrigin();
        const writer = await openTab(origin);
        await addAndFlush(countersOf(writer.tab, 600));
        const { tab, take } = await openTab(origin);
        const some = [3, 400, 599].map((at) => tab.counter(`counter ${at}`));
        take();
        assert.deepEqual(await readAll(some), [1, 1, 1]);
        const read = take();
        assert.equal(read.transaction, 1);
        assert.ok(read.getAll <= 1 + some.length);
        origin.close();
    });

    it('the flushed increments of a tab that dies between the parts of a commit count once', async () => {
        const k = 2 * part + 40;
        for (let last = 4; last <= 7; ++last) {
            const origin = await createOrigin();
            let begun = 0;
            const { page, tab } = await openTab(origin, () => {
                if (++begun === last) page.kill();
            });
            /** @type {Set<string>} */
            const flushed = new Set();
            for (const [at, counter] of countersOf(tab, k).entries()) {
                counter.add(1);
                counter.flush().then(
                    () => flushed.add(`counter ${at}`),
                    () => {},
                );
            }
            await origin.settled();
            const survivor = await openTab(origin);
            const values = await survivor.tab.readCounters();
            for (const name of flushed)
                assert.equal(values.get(name), 1, `${name} after ${last} transactions`);
            assert.ok([...values.values()].every((value) => value === 1));
            origin.close();
        }
    });

    it('the backup keeps the rows that fit into 2 MB, and a warning reports that it lacks others', async () => {
        const origin = await createOrigin();
        const { page, tab } = await openTab(origin);
        const { localStorage } = page.window;
        // Another tab's rows take all but a few kilobytes.
        const other = `tabacus/default/mirror/${'x'.repeat(3900)}`;
        for (let at = 0; at < 500; ++at) localStorage.setItem(`${other}${at}/0/1`, '1;1;1;0');
        /** @type {string[]} */
        const warnings = [];
        tab.addEventListener('warning', ({ detail }) => warnings.push(detail.code));
        const counters = countersOf(tab, 1000);
        await addAndFlush(counters);
        await addAndFlush(counters);
        await origin.settled();
        const keys = Object.keys(localStorage).filter((key) => key.includes('/mirror/counter '));
        assert.ok(keys.length > 100 && keys.length < 900, `${keys.length} rows`);
        const values = keys.map((key) => localStorage.getItem(key));
        assert.ok(
            values.every((value) => value?.endsWith(';2;0')),
            'a row that is kept is kept up to date',
        );
        const size = Object.entries(localStorage).reduce(
            (sum, [key, value]) => sum + key.length + value.length,
            0,
        );
        assert.ok(size <= 2_000_000 && size > 1_900_000, `${size} bytes`);
        assert.deepEqual(warnings, ['backup-incomplete']);
        origin.close();
    });
});
