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

        /** A tab with a memory, its storage, and a Worker attached to it. */
        const openThreads = async () => {
            const tab = await browser.openTab();
            await tab.evaluate(async () => {
                const { threads } = await import(/** @type {any} */ ('/dist/web/tabacus-threads.js'));
                const page = /** @type {any} */ (globalThis);
                page.shared = await threads();
                page.start = async () => {
                    const worker = new Worker('/programs/storer.web.js', { type: 'module' });
                    const tell = (/** @type {string} */ order, /** @type {unknown[]} */ ...args) =>
                        new Promise((resolve, reject) => {
                            worker.onmessage = ({ data: { value, error } }) =>
                                error
                                    ? reject(new Error(`${error.name} ${error.code}: ${error.message}`))
                                    : resolve(value);
                            worker.onerror = ({ message }) => reject(new Error(message));
                            worker.postMessage({ order, args });
                        });
                    await tell('attach', page.shared.handle);
                    return { tell, worker };
                };
                // The Worker is first: the page makes the storage when it hears of it.
                ({ tell: page.tell, worker: page.worker } = await page.start());
                page.storage = await page.shared.storage();
                page.heard = [];
                page.shared.addEventListener('storage', (/** @type {any} */ event) =>
                    page.heard.push([event.key, event.oldValue, event.newValue]),
                );
            });
            return tab;
        };

        /** @param {Tab} tab @param {string} order @param {unknown[]} args @returns {Promise<any>} */
        const tell = (tab, order, ...args) =>
            tab.evaluate((what, more) => /** @type {any} */ (globalThis).tell(what, ...more), order, args);

        it('a Worker writes, its page mirrors, another tab hears; and back, to the Worker', async () => {
            const other = await browser.openTab();
            await other.evaluate(() => {
                localStorage.clear();
                localStorage.setItem('before', '1');
                /** @type {any} */ (globalThis).told = [];
                addEventListener('storage', ({ key, newValue }) =>
                    /** @type {any} */ (globalThis).told.push([key, newValue]),
                );
            });
            const tab = await openThreads();
            assert.deepEqual(await tell(tab, 'items'), [['before', '1']]);
            assert.equal(await tell(tab, 'capability'), 'mirrored');
            const odd = 'worker \ud800\0';
            for (const value of ['1', '2', '3']) await tell(tab, 'set', odd, value);
            await tell(tab, 'remove', 'before');
            const told = () => other.evaluate(() => /** @type {any} */ (globalThis).told);
            await until(async () => (await told()).length === 4, 'the other tab to hear');
            assert.deepEqual(
                (await told()).map((/** @type {any} */ [, value]) => value),
                ['1', '2', '3', null],
            );
            assert.equal(await other.evaluate((key) => localStorage.getItem(key), odd), '3');
            assert.equal((await tab.evaluate(() => /** @type {any} */ (globalThis).heard)).length, 4);

            await other.evaluate(() => localStorage.setItem('other', 'o'));
            await until(async () => (await tell(tab, 'get', 'other')) === 'o', 'the Worker to see it');
            await until(async () => (await tell(tab, 'heard')).length === 1, 'the Worker to hear');
            assert.deepEqual(await tell(tab, 'heard'), [['other', null, 'o']]);
            assert.equal(await tell(tab, 'heardBySelf'), 1);
            await other.evaluate(() => localStorage.clear());
            await until(async () => (await tell(tab, 'items')).length === 0, 'the Worker to see it cleared');
            await closeAll([tab, other]);
        });

        it('what the page itself sets is in localStorage at once, with all that was set before', async () => {
            const tab = await openThreads();
            await tell(tab, 'set', 'worker', 'w');
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

        it('who falls behind writes what its threads changed, and not what another document has since', async () => {
            const tab = await openThreads();
            const changes = 6_000;
            const both = await tab.evaluate(async (most) => {
                const { storage, tell: ask } = /** @type {any} */ (globalThis);
                const turn = () => new Promise((next) => setTimeout(next, 1));
                await ask('set', 'cart', 'old');
                while (localStorage.getItem('cart') !== 'old') await turn();
                const other = document.body.appendChild(document.createElement('iframe')).contentWindow;
                const counted = ask('countTo', 'n', most);
                while (storage.getItem('n') !== String(most)); // this page hears of nothing meanwhile
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

        it('a Worker that is terminated while it writes keeps nobody out', async () => {
            const tab = await openThreads();
            const rounds = await tab.evaluate(async () => {
                const { start, storage, tell: ask } = /** @type {any} */ (globalThis);
                let round = 0;
                for (; round < 4; round++) {
                    const { tell: order, worker } = await start();
                    void order('write', `w${round}`).catch(() => {});
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

        it('locks: a Worker that is terminated lets go, and the page is next', async () => {
            const tab = await openThreads();
            const told = await tab.evaluate(async () => {
                const { shared, tell: ask, worker } = /** @type {any} */ (globalThis);
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
            assert.deepEqual(told, [null, 1, 1, 'l exclusive', '[object LockManager]']);
            await closeAll([tab]);
        });
    },
);
