/** `shared.storage()` and `shared.locks` in real tabs: Workers, the page's localStorage, and another tab. */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { describeIn, ENGINES } from './harness/engines.js';
import { closeAll, useBrowser } from './harness/fixture.js';
import { until } from './harness/waiting.js';

/** @typedef {import('./harness/tab.js').Tab} Tab */

describeIn(
    [ENGINES.chromium, ENGINES.firefox, ENGINES.webkit],
    'Storage and locks that threads share',
    (engine) => {
        const browser = useBrowser(engine);

        /** Opens a tab with a memory, its storage, and an attached Worker. */
        const openThreads = async () => {
            const tab = await browser.openTab();
            await tab.evaluate(async () => {
                const { threads } = await import(/** @type {any} */ ('/dist/web/tabacus-threads.js'));
                const page = /** @type {any} */ (globalThis);
                page.shared = await threads();
                page.start = async () => {
                    const worker = new Worker('/programs/storer.web.js', { type: 'module' });
                    const call = (/** @type {string} */ method, /** @type {unknown[]} */ ...args) =>
                        new Promise((resolve, reject) => {
                            worker.onmessage = ({ data: { value, error } }) =>
                                error
                                    ? reject(new Error(`${error.name} ${error.code}: ${error.message}`))
                                    : resolve(value);
                            worker.onerror = ({ message }) => reject(new Error(message));
                            worker.postMessage({ method, args });
                        });
                    await call('attach', page.shared.handle);
                    return { call, worker };
                };
                // The Worker comes first, so that the page makes the storage because the Worker requests it.
                ({ call: page.call, worker: page.worker } = await page.start());
                page.storage = await page.shared.storage();
                page.events = [];
                page.shared.addEventListener('storage', (/** @type {any} */ event) =>
                    page.events.push([event.key, event.oldValue, event.newValue]),
                );
            });
            return tab;
        };

        /** @param {Tab} tab @param {string} method @param {unknown[]} args @returns {Promise<any>} */
        const call = (tab, method, ...args) =>
            tab.evaluate((what, more) => /** @type {any} */ (globalThis).call(what, ...more), method, args);

        it('a write of a Worker reaches another tab through its page, and a write of that tab reaches the Worker', async () => {
            const other = await browser.openTab();
            await other.evaluate(() => {
                localStorage.clear();
                localStorage.setItem('before', '1');
                /** @type {any} */ (globalThis).otherEvents = [];
                addEventListener('storage', ({ key, newValue }) =>
                    /** @type {any} */ (globalThis).otherEvents.push([key, newValue]),
                );
            });
            const tab = await openThreads();
            assert.deepEqual(await call(tab, 'items'), [['before', '1']]);
            assert.equal(await call(tab, 'capability'), 'mirrored');
            const odd = 'worker \ud800\0';
            for (const value of ['1', '2', '3']) await call(tab, 'set', odd, value);
            await call(tab, 'remove', 'before');
            const otherEvents = () => other.evaluate(() => /** @type {any} */ (globalThis).otherEvents);
            await until(async () => (await otherEvents()).length === 4, 'the events in the other tab');
            assert.deepEqual(
                (await otherEvents()).map((/** @type {any} */ [, value]) => value),
                ['1', '2', '3', null],
            );
            assert.equal(await other.evaluate((key) => localStorage.getItem(key), odd), '3');
            assert.equal((await tab.evaluate(() => /** @type {any} */ (globalThis).events)).length, 4);

            await other.evaluate(() => localStorage.setItem('other', 'o'));
            await until(async () => (await call(tab, 'get', 'other')) === 'o', 'the Worker to see it');
            await until(async () => (await call(tab, 'events')).length === 1, 'the event in the Worker');
            assert.deepEqual(await call(tab, 'events'), [['other', null, 'o']]);
            assert.equal(await call(tab, 'eventsOfSelf'), 1);
            await other.evaluate(() => localStorage.clear());
            await until(async () => (await call(tab, 'items')).length === 0, 'the Worker to see it cleared');
            await closeAll([tab, other]);
        });

        it('a value that the page itself sets is in localStorage at once, with all earlier values', async () => {
            const tab = await openThreads();
            await call(tab, 'set', 'worker', 'w');
            const local = await tab.evaluate(() => {
                const { storage } = /** @type {any} */ (globalThis);
                storage.page = 'p';
                return [
                    localStorage.getItem('worker'),
                    localStorage.getItem('page'),
                    String(storage),
                    Object.keys(storage).length,
                ];
            });
            assert.deepEqual(local, ['w', 'p', '[object Storage]', 2]);
            await tab.evaluate(() => localStorage.clear());
            await closeAll([tab]);
        });

        it('a page that falls behind writes the changes of its threads, and does not overwrite those of another document', async () => {
            const tab = await openThreads();
            const changes = 6_000;
            const both = await tab.evaluate(async (most) => {
                const { storage, call: ask } = /** @type {any} */ (globalThis);
                const turn = () => new Promise((next) => setTimeout(next, 1));
                await ask('set', 'cart', 'old');
                while (localStorage.getItem('cart') !== 'old') await turn();
                const other = document.body.appendChild(document.createElement('iframe')).contentWindow;
                const counted = ask('countTo', 'n', most);
                while (storage.getItem('n') !== String(most)); // this blocks the event loop of the page
                other?.localStorage.setItem('cart', 'new');
                other?.localStorage.setItem('fresh', '1');
                await counted;
                while (localStorage.getItem('n') !== String(most)) await turn();
                while (!(await ask('get', 'fresh')) && localStorage.getItem('fresh')) await turn();
                const items = await ask('items');
                const stored = Object.entries(localStorage);
                storage.clear();
                return [items, stored].map((entries) => entries.sort());
            }, changes);
            const wanted = Object.entries({ cart: 'new', fresh: '1', n: String(changes) });
            assert.deepEqual(both, [wanted, wanted]);
            await closeAll([tab]);
        });

        it('a Worker that is terminated while it writes does not lock out other threads', async () => {
            const tab = await openThreads();
            const rounds = await tab.evaluate(async () => {
                const { start, storage, call: ask } = /** @type {any} */ (globalThis);
                let round = 0;
                for (; round < 4; round++) {
                    const { call: callOther, worker } = await start();
                    void callOther('write', `w${round}`).catch(() => {});
                    const begun = () => Object.keys(storage).some((key) => key.startsWith(`w${round}/`));
                    while (!begun()) await new Promise((turn) => setTimeout(turn, 1));
                    worker.terminate();
                    storage.still = String(round);
                    if ((await ask('get', 'still')) !== String(round)) break;
                }
                storage.clear();
                return round;
            });
            assert.equal(rounds, 4);
            await closeAll([tab]);
        });

        it('terminating a Worker releases its lock, which is granted to the page', async () => {
            const tab = await openThreads();
            const results = await tab.evaluate(async () => {
                const { shared, call: ask, worker } = /** @type {any} */ (globalThis);
                await ask('hold', 'l', {});
                const unavailable = await shared.locks.request(
                    'l',
                    { ifAvailable: true },
                    (/** @type {unknown} */ lock) => lock,
                );
                const next = shared.locks.request(
                    'l',
                    (/** @type {Lock} */ lock) => `${lock.name} ${lock.mode}`,
                );
                const { held, pending } = await shared.locks.query();
                worker.terminate();
                return [unavailable, held.length, pending.length, await next, String(shared.locks)];
            });
            assert.deepEqual(results, [null, 1, 1, 'l exclusive', '[object LockManager]']);
            await closeAll([tab]);
        });
    },
);
