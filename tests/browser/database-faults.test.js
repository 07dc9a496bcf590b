/**
 * A tab goes on when IndexedDB of a real browser is made to fail: connections that die or do not answer, and openings
 * that fail or are not answered.
 */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { call } from './harness/commands.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { closeAll, useBrowser } from './harness/fixture.js';

/** Lets every transaction of the connections that are open at this moment abort. Runs in a page. */
function killConnections() {
    /** @type {WeakSet<IDBDatabase>} */
    const alive = new WeakSet();
    const { open } = IDBFactory.prototype;
    IDBFactory.prototype.open = function (...given) {
        const request = open.apply(this, given);
        request.addEventListener('success', () => alive.add(request.result));
        return request;
    };
    const { transaction } = IDBDatabase.prototype;
    IDBDatabase.prototype.transaction = function (...given) {
        const begun = transaction.apply(this, given);
        if (!alive.has(this)) begun.abort();
        return begun;
    };
}

/**
 * Opens a tab whose database never opens, and returns what it could do. Runs in a page.
 *
 * @param {string} namespace
 */
async function openWithoutAnswer(namespace) {
    // @ts-ignore: served by the tests' server
    const { open } = await import('/dist/web/tabacus.js');
    IDBFactory.prototype.open = () => /** @type {any} */ (new EventTarget());
    const tab = await open({ namespace, timeouts: { open: 200, transaction: 300, close: 200 } });
    const { opening } = tab.capabilities;
    const value = tab.counter('c').add(2);
    const refused = (/** @type {any} */ error) => error.code;
    const code = await tab.queue('q').enqueue(1).catch(refused);
    return [opening, value, code, await tab.close().catch(refused)];
}

/**
 * Enqueues and counts while a connection commits without an answer, and then while it is dead and an opening fails. Returns
 * what is stored in the end. Runs in a page.
 *
 * @param {string} namespace
 */
async function workThroughFaults(namespace) {
    /** @type {Set<IDBDatabase>} */
    const connections = new Set();
    const { open: openDatabase } = IDBFactory.prototype;
    let failures = 0;
    IDBFactory.prototype.open = function (...given) {
        if (failures > 0) {
            failures--;
            /** @type {any} */
            const refused = new EventTarget();
            refused.error = new DOMException('Internal error opening backing store.', 'UnknownError');
            setTimeout(() => refused.onerror?.(new Event('error', { cancelable: true })));
            return refused;
        }
        const request = openDatabase.apply(this, given);
        request.addEventListener('success', () => connections.add(request.result));
        return request;
    };
    // @ts-ignore: served by the tests' server
    const { open } = await import('/dist/web/tabacus.js');
    const tab = /** @type {import('tabacus').Tab} */ (
        await open({ namespace, timeouts: { transaction: 300 } })
    );
    /** @type {string[]} */
    const codes = [];
    tab.addEventListener('warning', ({ detail }) => codes.push(detail.code));
    const queue = tab.queue('q');
    const counter = tab.counter('c');
    /** @param {number} n */
    const work = async (n) => {
        await queue.enqueue(n);
        counter.add(n);
        await counter.flush();
    };
    await work(1);
    for (const connection of connections)
        for (const type of ['success', 'error', 'complete', 'abort'])
            connection.addEventListener(type, (event) => event.stopImmediatePropagation(), { capture: true });
    await work(2);
    for (const connection of connections) connection.close();
    failures = 1;
    await work(4);
    const jobs = await queue.jobs();
    const found = { jobs: jobs.map(({ payload }) => payload), count: await counter.read(), codes };
    await tab.close();
    return found;
}

describeIn([ENGINES.chromium, ENGINES.firefox], 'IndexedDB that fails', (engine) => {
    const browser = useBrowser(engine);

    it('a tab goes on after its connection has died, and a tab whose database never opens counts', async () => {
        const namespace = browser.namespace();
        const [tab, other] = [await browser.openIn({ namespace }), await browser.openIn({ namespace })];
        await call(tab, 'add', 'c', 1);
        await call(tab, 'flush', 'c');
        await call(tab, 'use', 'queue');
        await tab.evaluate(killConnections);
        await call(tab, 'add', 'c', 2);
        await call(tab, 'flush', 'c');
        for (const use of /** @type {const} */ (['stores', 'once', 'queue', 'sequence']))
            await call(tab, 'use', use);
        assert.equal(await call(other, 'read', 'c'), 3);
        const codes = (await call(tab, 'events')).map((/** @type {any} */ { detail }) => detail.code);
        assert.ok(codes.includes('connection-replaced'), codes.join());
        assert.deepEqual(await other.evaluate(openWithoutAnswer, `${namespace} late`), [
            true,
            2,
            'store-failed',
            'store-failed',
        ]);
        await closeAll([tab, other]);
    });

    it('jobs and counts are stored once although a connection does not answer, and an opening fails', async () => {
        const tab = await browser.openTab();
        const { jobs, count, codes } = await tab.evaluate(workThroughFaults, browser.namespace());
        assert.deepEqual([jobs, count], [[1, 2, 4], 7]);
        assert.deepEqual([...new Set(codes)], ['connection-replaced']);
        await tab.close();
    });
});
