/** One lock that many tabs contend for, and many locks that one tab holds: by tab.lock(), or by navigator.locks. */

import { openDatabase } from './database.js';
import { nextMacrotask } from './next-macrotask.js';

/** @typedef {'ours' | 'peer'} Subject */

/** What runs under the lock: a function that does not wait, or one that awaits a task. */
const bodies = { sync: () => {}, task: nextMacrotask };

/** How long one tab may take to acquire all of its locks. */
const limit_ms = 120_000;

/** @param {import('tabacus').Tab} tab */
export function locksOf(tab) {
    /** @type {Record<Subject, (use: () => unknown) => Promise<unknown>>} */
    const runs = {
        ours: (use) => tab.lock('contended').run(use),
        peer: (use) => navigator.locks.request('contended', use),
    };

    /**
     * Acquires one lock again and again, from `from_ms` to `until_ms` of the wall clock, which all tabs share.
     *
     * @param {Subject} subject @param {keyof typeof bodies} body @param {number} from_ms @param {number} until_ms
     * @returns {Promise<number>} how often this tab got it
     */
    async function contend(subject, body, from_ms, until_ms) {
        await new Promise((resolve) => setTimeout(resolve, from_ms - Date.now()));
        let grants = 0;
        while (Date.now() < until_ms) {
            await runs[subject](() => {
                if (Date.now() < until_ms) grants++;
                return bodies[body]();
            });
        }
        return grants;
    }

    /**
     * Acquires `names.length` locks at once, and then one more, and releases all.
     *
     * @param {keyof typeof acquireAll} how @param {string[]} names @param {'exclusive' | 'shared'} mode
     * @returns {Promise<{ each_us: number, more_ms: number }>}
     */
    async function holdNames(how, names, mode) {
        const began_ms = performance.now();
        const release = await acquireAll[how](tab, names, mode);
        const each_us = ((performance.now() - began_ms) * 1_000) / names.length;
        const later_ms = performance.now();
        const releaseOne = await acquireAll[how](tab, [`one more than ${names[0]}`], mode);
        const more_ms = performance.now() - later_ms;
        releaseOne();
        release();
        return { each_us, more_ms };
    }

    /** Loads what locks need, which a measurement is not to contain. */
    const load = () => runs.ours(bodies.sync);

    return { contend, holdNames, load };
}

/** @param {string[]} names @param {LockMode} mode @returns {Promise<() => void>} */
async function requestAll(names, mode) {
    /** @type {((value?: unknown) => void)[]} */
    const releases = [];
    await Promise.all(
        names.map(
            (name) =>
                new Promise((granted) => {
                    void navigator.locks.request(name, { mode }, () => {
                        granted(undefined);
                        return new Promise((release) => releases.push(release));
                    });
                }),
        ),
    );
    return () => releases.forEach((release) => release());
}

/**
 * The ways to acquire many locks: by tabacus; by a native request for each; and by the same with a row for each, all
 * of which one transaction writes.
 */
const acquireAll = {
    /** @param {import('tabacus').Tab} tab @param {string[]} names @param {LockMode} mode */
    ours: async (tab, names, mode) => {
        const options = { mode, signal: AbortSignal.timeout(limit_ms) };
        const held = await Promise.all(names.map((name) => tab.lock(name).acquire(options)));
        return () => held.forEach((one) => one?.release());
    },
    /** @param {import('tabacus').Tab} _tab @param {string[]} names @param {LockMode} mode */
    native: (_tab, names, mode) => requestAll(names, mode),
    /** @param {import('tabacus').Tab} _tab @param {string[]} names @param {LockMode} mode */
    parts: async (_tab, names, mode) => {
        const database = await openDatabase('bare locks');
        const transaction = database.transaction('rows', 'readwrite');
        const rows = transaction.objectStore('rows');
        for (const name of names) rows.put(`1;${name};${mode}`, name);
        const written = new Promise((resolve, reject) => {
            transaction.oncomplete = resolve;
            transaction.onabort = () => reject(transaction.error);
        });
        const [release] = await Promise.all([requestAll(names, mode), written]);
        database.close();
        return release;
    },
};
