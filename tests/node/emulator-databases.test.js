/**
 * The emulator's databases: opening and upgrading one in a tab that dies or is frozen, and which peer
 * dependency it takes.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import * as fakeIndexedDB from 'fake-indexeddb';
import { createOrigin, explore } from 'tabacus/emulator';

const isCode = (/** @type {string} */ code) => (/** @type {any} */ error) => error.code === code;

/** Opens with an upgrade of several steps. @param {any} window @param {(what: string) => void} note @returns {Promise<any>} */
const upgraded = (window, note) =>
    new Promise((resolve, reject) => {
        const request = window.indexedDB.open('d', 1);
        request.onupgradeneeded = () => {
            note('upgrade');
            const store = request.result.createObjectStore('s');
            const next = (/** @type {number} */ at) => {
                note(`step ${at}`);
                if (at < 4) store.put(at, at).onsuccess = () => next(at + 1);
            };
            next(0);
        };
        request.onsuccess = () => (note('open'), resolve(request.result));
        request.onerror = () => reject(request.error);
    });

const isOpen = (/** @type {string} */ what) => what === 'open';
/** @type {[string, (what: string) => boolean][]} */
const moments = [
    ['before its upgrade', (what) => what === 'begin'],
    ['amid its upgrade', (what) => what === 'step 2'],
    ['at its upgrade’s end', (what) => what === 'step 4'],
];

describe('a database that is opened', () => {
    for (const [moment, is] of moments) {
        it(`a tab that dies ${moment} runs nothing more of it and leaves nothing of it, and another tab opens the database`, async () => {
            const origin = await createOrigin();
            const [dead, other] = [origin.openTab(), origin.openTab()];
            /** @type {string[]} */
            const after = [];
            const note = (/** @type {string} */ what) => {
                if (dead.closed) after.push(what);
                if (is(what)) dead.kill();
            };
            void upgraded(dead.window, note);
            note('begin');
            const events = /** @type {string[]} */ ([]);
            await upgraded(other.window, (what) => events.push(what));
            assert.deepEqual([after, events.at(0), events.filter(isOpen).length], [[], 'upgrade', 1]);
            origin.close();
        });

        it(`a tab that freezes ${moment} goes on when it is resumed, and time passes for the other tabs meanwhile`, async () => {
            const origin = await createOrigin();
            const [cold, other] = [origin.openTab(), origin.openTab()];
            /** @type {string[]} */
            const events = [];
            const note = (/** @type {string} */ what) => {
                events.push(`${what}${cold.frozen ? ' frozen' : ''}`);
                if (is(what)) cold.freeze();
            };
            const opening = upgraded(cold.window, note);
            note('begin');
            await new Promise((resolve) => other.window.setTimeout(resolve, 50));
            await origin.settled();
            const before = events.length;
            cold.thaw();
            await opening;
            assert.deepEqual(events, [
                'begin',
                'upgrade',
                'step 0',
                'step 1',
                'step 2',
                'step 3',
                'step 4',
                'open',
            ]);
            assert.ok(before < events.length);
            origin.close();
        });
    }

    it('a tab in the back/forward cache receives nothing until it is restored', async () => {
        const origin = await createOrigin();
        const tab = origin.openTab();
        /** @type {string[]} */
        const events = [];
        const opening = upgraded(tab.window, (what) => events.push(`${what} ${tab.cached}`));
        assert.equal(await tab.bfcache(), true);
        await origin.settled();
        assert.deepEqual(
            events.filter((what) => what.endsWith('true')),
            [],
        );
        tab.thaw();
        await opening;
        assert.equal(events.at(-1), 'open false');
        origin.close();
    });

    it('an exception in a handler is an error of the window, and aborts the transaction of its upgrade or request', async () => {
        const origin = await createOrigin();
        const { window } = origin.openTab();
        /** @type {string[]} */
        const errors = [];
        window.onerror = (/** @type {string} */ message) => (errors.push(message), true);
        const failing = window.indexedDB.open('d', 1);
        failing.onupgradeneeded = () => {
            throw new Error('in the upgrade');
        };
        await new Promise((resolve) => (failing.onerror = resolve));
        const db = await upgraded(window, () => {});
        const transaction = db.transaction('s', 'readwrite');
        transaction.objectStore('s').put('new', 0).onsuccess = () => {
            throw new Error('in a request');
        };
        await new Promise((resolve) => (transaction.onabort = resolve));
        const again = window.indexedDB.open('d', 1);
        await new Promise(
            (resolve) =>
                (again.onsuccess = () => {
                    resolve(undefined);
                    throw new Error('in success');
                }),
        );
        await origin.settled();
        assert.deepEqual(
            errors,
            ['in the upgrade', 'in a request', 'in success'].map((text) => `Uncaught Error: ${text}`),
        );
        assert.equal(transaction.error.name, 'AbortError');
        origin.close();
    });

    it('an exploration makes the same runs each time, also with the back/forward cache among its faults', async () => {
        const scenario = async (/** @type {any} */ { window }) => {
            const db = await upgraded(window, () => {});
            for (let at = 0; at < 3; ++at) {
                await new Promise((resolve) => {
                    const transaction = db.transaction('s', 'readwrite');
                    transaction.objectStore('s').put(at, at);
                    transaction.oncomplete = transaction.onabort = resolve;
                });
            }
        };
        const hashes = new Set();
        let work = 0;
        for (const run of [0, 1]) {
            // The second time the host is busy with other tasks.
            let busy = true;
            const turn = () => {
                for (let at = 0; at < run * 1e5; ++at) work += at;
                if (busy) setImmediate(turn);
            };
            turn();
            const report = await explore(scenario, {
                seeds: 100,
                tabs: 3,
                faults: ['bfcache'],
                faultBudget: 3,
            });
            assert.equal(report.verdict, 'unbroken within the bound', report.trace);
            hashes.add(report.hash);
            busy = false;
        }
        assert.ok(work > 0);
        assert.equal(hashes.size, 1);
    });
});

describe('the peer', () => {
    it('the peer dependency is fake-indexeddb, in a version that package.json allows', async () => {
        for (const none of [{}, 5, null, 'x'])
            await assert.rejects(
                createOrigin({ fakeIndexedDB: /** @type {any} */ (none) }),
                isCode('invalid-argument'),
            );
        const without = { ...fakeIndexedDB, forceCloseDatabase: undefined };
        await assert.rejects(
            createOrigin({ fakeIndexedDB: without }),
            (/** @type {any} */ error) => error.code === 'unavailable' && /6\.2\.6/.test(error.message),
        );
        class IDBTransaction {}
        await assert.rejects(
            explore(() => {}, { fakeIndexedDB: { ...fakeIndexedDB, IDBTransaction } }),
            isCode('unavailable'),
        );
        const origin = await createOrigin({ fakeIndexedDB });
        assert.equal(typeof origin.openTab().window.indexedDB, 'object');
        origin.close();
    });
});
