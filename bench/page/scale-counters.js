/** Many tabs that write one counter, and many counters that one tab uses; and the bare transactions beside them. */

import { done, openDatabase } from './database.js';

/** @param {IDBDatabase} database @param {(rows: IDBObjectStore) => void} write @returns {Promise<void>} */
const written = (database, write) =>
    new Promise((resolve, reject) => {
        const transaction = database.transaction('rows', 'readwrite');
        transaction.oncomplete = () => resolve();
        transaction.onabort = () => reject(transaction.error);
        write(transaction.objectStore('rows'));
    });

/** @param {() => unknown} body @returns {Promise<number>} milliseconds */
async function timed(body) {
    const began_ms = performance.now();
    await body();
    return performance.now() - began_ms;
}

/** The longest task of this page so far, in milliseconds. Browsers report tasks of 50 ms and more. */
let longestTask_ms = 0;
new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) longestTask_ms = Math.max(longestTask_ms, duration);
}).observe({ type: 'longtask' });

/** @param {import('tabacus').Tab} tab */
export function countersOf(tab) {
    const own = `of ${crypto.randomUUID()}`;

    const steps = {
        ours: async () => {
            tab.counter('written').add(1);
            await tab.counter('written').flush();
        },
        /** @param {IDBDatabase} database */
        peer: (database) => written(database, (rows) => rows.put('1;1;0', own)),
    };

    /**
     * Takes steps, in turn, from `from_ms` to `until_ms` of the wall clock.
     *
     * @param {(keyof typeof steps)[]} subjects @param {number} from_ms @param {number} until_ms
     * @returns {Promise<Record<string, number[]>>} how long each step took, in milliseconds
     */
    async function write(subjects, from_ms, until_ms) {
        const database = await openDatabase('bare counter');
        /** @type {Record<string, number[]>} */
        const took_ms = Object.fromEntries(subjects.map((subject) => [subject, []]));
        await new Promise((resolve) => setTimeout(resolve, from_ms - Date.now()));
        while (Date.now() < until_ms) {
            for (const subject of subjects)
                took_ms[subject]?.push(await timed(() => steps[subject](database)));
        }
        database.close();
        return took_ms;
    }

    /**
     * Adds to `count` counters and flushes all. The caller makes the counters, in many tasks, so that the longest task
     * is not its own.
     *
     * @param {number} count @returns {Promise<number>} milliseconds
     */
    const flushCounters = async (count) => {
        /** @type {import('tabacus').ReplicatedCounter[]} */
        const counters = [];
        for (let at = 0; at < count; at++) {
            counters.push(tab.counter(`c/${at}`));
            if (at % 500 === 499) await new Promise((resolve) => setTimeout(resolve));
        }
        return timed(() => {
            for (const counter of counters) counter.add(1);
            return Promise.all(counters.map((counter) => counter.flush()));
        });
    };

    /** Reads all counters of the namespace. @returns {Promise<number>} milliseconds */
    const readCounters = () => timed(() => tab.readCounters({ prefix: 'c/' }));

    /** Reads each of `count` counters in one turn. @param {number} count @returns {Promise<number>} milliseconds */
    const readEach = (count) => {
        const counters = Array.from({ length: count }, (_, at) => tab.counter(`c/${at}`));
        return timed(() => Promise.all(counters.map((counter) => counter.read())));
    };

    /** Writes `count` rows in one transaction, and reads all in another. @param {number} count */
    async function bareRows(count) {
        const database = await openDatabase(`bare rows ${count}`);
        const put_ms = await timed(() =>
            written(database, (rows) => {
                for (let at = 0; at < count; at++) rows.put(`1;relaxed;${at};1;0`, `c/${at}/1`);
            }),
        );
        const getAll_ms = await timed(() => done(database.transaction('rows').objectStore('rows').getAll()));
        database.close();
        return { put_ms, getAll_ms };
    }

    const longestTask = () => longestTask_ms;

    return { write, flushCounters, readCounters, readEach, bareRows, longestTask };
}
