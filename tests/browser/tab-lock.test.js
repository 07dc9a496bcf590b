/** Locks over tabs, acquired by Workers that block and by C++ threads, in real tabs. */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { describeIn, ENGINES } from './harness/engines.js';
import { closeAll, useBrowser } from './harness/fixture.js';

/** @typedef {import('./harness/tab.js').Tab} Tab */

/** The time for a grant after the exit of a Worker, on a busy machine. */
const handOverMs = 2_000;

describeIn([ENGINES.chromium, ENGINES.firefox, ENGINES.webkit], 'Locks over tabs, from threads', (engine) => {
    const browser = useBrowser(engine);

    /**
     * Opens a tab with a memory and an attached Worker.
     *
     * @param {string} namespace
     */
    const openThreads = async (namespace) => {
        const tab = await browser.openTab();
        await tab.evaluate(async (name) => {
            const { open } = await import(/** @type {any} */ ('/dist/web/tabacus.js'));
            const { threads } = await import(/** @type {any} */ ('/dist/web/tabacus-threads.js'));
            const page = /** @type {any} */ (globalThis);
            page.tab = await open({ namespace: name });
            page.shared = await threads({ tab: page.tab });
            page.worker = new Worker('/programs/tab-locker.web.js', { type: 'module' });
            page.call = (/** @type {string} */ method, /** @type {unknown[]} */ ...args) =>
                new Promise((resolve, reject) => {
                    page.worker.onmessage = (/** @type {any} */ { data: { value, error } }) =>
                        error
                            ? reject(new Error(`${error.name} ${error.code}: ${error.message}`))
                            : resolve(value);
                    page.worker.onerror = (/** @type {any} */ { message }) => reject(new Error(message));
                    page.worker.postMessage({ method, args });
                });
            await page.call('attach', page.shared.handle);
        }, namespace);
        return tab;
    };

    /**
     * @param {Tab} tab
     * @param {string} method
     * @param {unknown[]} args
     * @returns {Promise<any>}
     */
    const call = (tab, method, ...args) =>
        tab.evaluate((what, more) => /** @type {any} */ (globalThis).call(what, ...more), method, args);

    /** @param {string} namespace */
    const openTwo = async (namespace) =>
        /** @type {[Tab, Tab]} */ (await Promise.all([openThreads(namespace), openThreads(namespace)]));

    it('Workers of two tabs that block 200 times around a read and a write lose nothing', async () => {
        const namespace = browser.namespace();
        const tabs = await openTwo(namespace);
        const database = `numbers of ${namespace}`;
        const tokens = (
            await Promise.all(tabs.map((tab) => call(tab, 'countIn', 'l', 200, database)))
        ).flat();
        assert.equal(new Set(tokens).size, 400);
        await call(tabs[0], 'countIn', 'l', 1, database);
        const total = await tabs[1].evaluate(
            (name) =>
                new Promise((resolve) => {
                    const opening = indexedDB.open(name);
                    opening.onsuccess = () => {
                        const reading = opening.result.transaction('numbers').objectStore('numbers').get('n');
                        reading.onsuccess = () => resolve(reading.result);
                    };
                }),
            database,
        );
        assert.equal(total, 401);
        await closeAll(tabs);
    });

    it('terminating a Worker releases its lock, and withdraws its request', async () => {
        const [a, b] = await openTwo(browser.namespace());
        const token = await call(a, 'lock', 'l');
        const next = call(b, 'lock', 'l');
        await a.evaluate(async () => {
            const { tab } = /** @type {any} */ (globalThis);
            while ((await tab.lock('l').query()).length < 2) await new Promise((turn) => setTimeout(turn, 5));
        });
        const before = performance.now();
        await a.evaluate(() => /** @type {any} */ (globalThis).worker.terminate());
        assert.ok((await next) > token);
        const took = performance.now() - before;
        assert.ok(took < handOverMs, `${took} ms`);
        await closeAll([a, b]);
    });

    it('the handle of a stolen lock is lost, and the page can await a lock but not block', async () => {
        const [a, b] = await openTwo(browser.namespace());
        await call(a, 'lock', 'l');
        await b.evaluate(async () => {
            const { tab } = /** @type {any} */ (globalThis);
            (await tab.lock('l').acquire({ steal: true })).release();
        });
        const held = await a.evaluate(async () => {
            const { call: ask } = /** @type {any} */ (globalThis);
            while (await ask('held', 'l')) await new Promise((turn) => setTimeout(turn, 5));
            return false;
        });
        assert.equal(held, false);
        await assert.rejects(call(a, 'unlock', 'l'), /lock-lost/);
        const token = await a.evaluate(async () => {
            const grant = await /** @type {any} */ (globalThis).shared.tabLock('l').lockAsync();
            return grant.token;
        });
        assert.ok(token > 0);
        assert.equal(await call(b, 'tryLock', 'l'), false);
        await assert.rejects(call(b, 'lock', 'l', { timeout: 10 }), /TimeoutError/);
        await assert.rejects(
            b.evaluate(() => /** @type {any} */ (globalThis).shared.tabLock('l').lock()),
            { code: 'would-block' },
        );
        await closeAll([a, b]);
    });

    it('the wait of a Worker for a lock or a mutex times out, and leaves nothing behind', async () => {
        const tab = await openThreads(browser.namespace());
        await tab.evaluate(async () => {
            const page = /** @type {any} */ (globalThis);
            page.both = [await page.tab.lock('l').acquire(), await page.shared.mutex('l').lockAsync()];
        });
        assert.deepEqual(await call(tab, 'lockInTime', 'l', { timeout: 50 }), [
            'TimeoutError',
            'TimeoutError',
        ]);
        const left = await tab.evaluate(async () => {
            const page = /** @type {any} */ (globalThis);
            page.both[0].release();
            page.both[1].unlock();
            (await page.shared.mutex('l').lockAsync()).unlock();
            return page.tab.lock('l').query();
        });
        assert.deepEqual(left, []);
        await tab.close();
    });

    it('C++ threads wait for a lock that a Worker of another tab holds', async () => {
        const [a, b] = await openTwo(browser.namespace());
        await call(b, 'lock', 'l');
        await a.evaluate(() => {
            const page = /** @type {any} */ (globalThis);
            page.counter = page.shared.counter('n', { kind: 'unsynchronised' });
            page.added = page.shared.hammer(page.counter, {
                threads: 2,
                adds: 50,
                lock: page.shared.tabLock('l'),
            });
        });
        const early = await a.evaluate(async () => {
            const page = /** @type {any} */ (globalThis);
            while ((await page.tab.lock('l').query()).length < 2)
                await new Promise((turn) => setTimeout(turn, 5));
            return page.counter.value;
        });
        assert.equal(early, 0);
        await call(b, 'unlock', 'l');
        const total = await a.evaluate(async () => {
            const page = /** @type {any} */ (globalThis);
            await page.added;
            return page.counter.value;
        });
        assert.equal(total, 100);
        await closeAll([a, b]);
    });
});

describeIn(
    [ENGINES.chromium, ENGINES.firefox],
    'Locks over tabs, from threads, without isolation',
    (engine) => {
        const browser = useBrowser(engine, { isolated: false });
        it('threads({ tab }) is a TabacusError', async () => {
            const tab = await browser.openTab();
            const code = await tab.evaluate(async (namespace) => {
                const { open } = await import(/** @type {any} */ ('/dist/web/tabacus.js'));
                const { threads } = await import(/** @type {any} */ ('/dist/web/tabacus-threads.js'));
                return threads({ tab: await open({ namespace }) }).catch(
                    (/** @type {any} */ error) => error.code,
                );
            }, browser.namespace());
            assert.equal(code, 'unavailable');
            await closeAll([tab]);
        });
    },
);
