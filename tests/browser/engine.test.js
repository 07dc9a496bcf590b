/** The handles of a real page share one engine, with one connection and one set of listeners. */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { describeIn, ENGINES } from './harness/engines.js';
import { closeAll, useBrowser } from './harness/fixture.js';

/**
 * Uses every feature of a tab, and counts the connections, channels and listeners that it takes. Runs in a page.
 *
 * @param {string} namespace
 */
async function useEverything(namespace) {
    /** @type {string[]} */
    const opened = [];
    const open = IDBFactory.prototype.open;
    IDBFactory.prototype.open = function (name, version) {
        opened.push(name);
        return Reflect.apply(open, this, version === undefined ? [name] : [name, version]);
    };
    /** @type {Record<string, number>} */
    const listeners = {};
    for (const target of [window, document]) {
        const { addEventListener } = target;
        target.addEventListener = (/** @type {string} */ type, /** @type {any[]} */ ...rest) => {
            listeners[type] = (listeners[type] ?? 0) + 1;
            return Reflect.apply(addEventListener, target, [type, ...rest]);
        };
    }
    const tabacus = await import(/** @type {any} */ ('/dist/web/tabacus.js'));
    const tab = await tabacus.open({ namespace });
    const other = await tabacus.open({ namespace });
    tab.counter('visits').add(1);
    other.counter('visits').add(2);
    await tab.counter('visits').flush();
    await tab.counter('orders', { strategy: 'transactional' }).add(1);
    await tab
        .lock('l')
        .run(async (/** @type {any} */ held) =>
            held.commit('kept', (/** @type {any} */ tx) => tx.put('kept', 'k', 1)),
        );
    await other.once('token', () => 7);
    await tab.sequence('s').next();
    const queue = other.queue('q');
    queue.handle((/** @type {any} */ { payload }) => payload + 1);
    const result = await (await tab.queue('q').enqueue(1)).result;
    await tab.close();
    const visits = await other.counter('visits').read();
    await other.close();
    IDBFactory.prototype.open = open;
    return { opened, listeners, result, visits };
}

describeIn(Object.values(ENGINES), 'One engine in a page', (engine) => {
    const browser = useBrowser(engine);

    it('an engine opens its database once and listens once, whatever features are used', async () => {
        const namespace = browser.namespace();
        const page = await browser.openTab();
        const { opened, listeners, result, visits } = await page.evaluate(useEverything, namespace);
        assert.deepEqual([result, visits], [2, 3]);
        assert.deepEqual(opened, [`tabacus/${namespace}`]);
        for (const type of ['visibilitychange', 'freeze', 'resume', 'online'])
            assert.equal(listeners[type], 1, type);
        // Firefox has one of each in the capture phase, too (js/host/lifecycle.js).
        for (const type of ['pagehide', 'pageshow']) assert.ok(Number(listeners[type]) <= 2, type);
        await closeAll([page]);
    });
});
