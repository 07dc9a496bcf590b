/** The emulator's scripts, lifecycle and databases, and the options of an origin. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';
import { isDom } from './expected-errors.js';

describe('tab.run', () => {
    it('scripts and functions find the tab’s own globals, and not the host’s', async () => {
        const origin = await createOrigin();
        const [a, b] = [origin.openTab(), origin.openTab()];
        assert.equal(
            await a.run(
                'var shared = 5; function twice(n) { return 2 * n }\nlocalStorage.setItem("k", shared); shared',
            ),
            5,
        );
        assert.equal(await a.run('twice(shared)'), 10);
        assert.equal(a.window.shared, 5);
        assert.equal(
            await b.run('typeof shared + typeof process + typeof require'),
            'undefinedundefinedundefined',
        );
        assert.equal(await a.run(() => localStorage.getItem('k')), '5');
        assert.equal(await a.run((/** @type {string} */ key) => window.localStorage.getItem(key), 'k'), '5');
        const own = 'k';
        assert.equal(await a.run((/** @type {any} */ { localStorage }) => localStorage.getItem(own)), '5');
        assert.equal(
            await a.run(async function () {
                await navigator.locks.request('l', () => {});
                return self === window;
            }),
            true,
        );
        assert.ok((await a.run('[]')) instanceof Array);
        await assert.rejects(a.run('nonsense('), SyntaxError);
        await assert.rejects(a.run('throw new TypeError("t")'), TypeError);
        const { answer, default: it } = await a.run(
            'const n = 42;\nexport { n as answer };\nexport default localStorage.length;',
        );
        assert.deepEqual([answer, it], [42, 1]);
        assert.equal(/** @type {any} */ (globalThis).shared, undefined);
        origin.close();
    });

    it('an undeclared assignment is a property of the tab, a minified module is recognised, and the word export in a text makes no module', async () => {
        const origin = await createOrigin();
        const [a, b] = [origin.openTab(), origin.openTab()];
        assert.equal(await a.run('cart = ["pen"]; for (at of [1, 2]); cart.length + at'), 3);
        await a.run(() => {
            // @ts-ignore: the variable is not declared
            basket = 2; // eslint-disable-line no-undef
        });
        assert.equal(await b.run('typeof cart + typeof at + typeof basket'), 'undefinedundefinedundefined');
        assert.deepEqual(
            ['cart', 'at', 'basket'].filter((name) => name in globalThis),
            [],
        );
        assert.deepEqual([...a.window.cart, a.window.basket], ['pen', 2]);
        await assert.rejects(async () => a.run('neverAssigned'), ReferenceError);
        const { greet, default: n } = await a.run("var r=t=>'hi '+t,n=1;export{n as default,r as greet};");
        assert.deepEqual([greet('you'), n], ['hi you', 1]);
        assert.equal(await a.run('var help = `usage:\nexport PATH=`; help.length'), 19);
        origin.close();
    });
});

describe('lifecycle', () => {
    it('the events of the lifecycle are dispatched in order, at the document and the window', async () => {
        const origin = await createOrigin();
        const tab = origin.openTab();
        const { window } = tab;
        /** @type {string[]} */
        const order = [];
        for (const type of ['visibilitychange', 'freeze', 'resume'])
            window.document.addEventListener(type, () =>
                order.push(`${type} ${window.document.visibilityState}`),
            );
        for (const type of ['pagehide', 'pageshow'])
            window.addEventListener(type, (/** @type {any} */ event) =>
                order.push(`${type} ${event.persisted}`),
            );
        tab.hide();
        tab.freeze();
        tab.thaw();
        tab.show();
        assert.equal(await tab.bfcache(), true);
        tab.thaw();
        await tab.close();
        assert.deepEqual(order, [
            'visibilitychange hidden',
            'freeze hidden',
            'resume hidden',
            'visibilitychange visible',
            'pagehide true',
            'visibilitychange hidden',
            'visibilitychange visible',
            'pageshow true',
            'pagehide false',
            'visibilitychange hidden',
        ]);
        assert.equal(window.closed, true);
        origin.close();
    });

    it('the window is the parent of its document: its listeners capture, and receive events that bubble (DOM §2.9)', async () => {
        const origin = await createOrigin();
        const tab = origin.openTab();
        const { window } = tab;
        const { document } = window;
        /** @type {string[]} */
        const order = [];
        const noting = (/** @type {string} */ place) => (/** @type {any} */ event) => {
            assert.deepEqual(
                [
                    event.target === document,
                    event.currentTarget === (place === 'document' ? document : window),
                ],
                [true, true],
            );
            order.push(`${place} ${event.type} ${event.eventPhase}`);
        };
        for (const type of ['visibilitychange', 'freeze', 'resume']) {
            window.addEventListener(type, noting('capturing'), true);
            window.addEventListener(type, noting('bubbling'));
            window.addEventListener(type, () => order.push('once'), { once: true, capture: true });
            document.addEventListener(type, noting('document'));
        }
        tab.hide();
        tab.freeze();
        tab.thaw();
        tab.show();
        assert.deepEqual(order, [
            'capturing visibilitychange 1',
            'once',
            'document visibilitychange 2',
            'bubbling visibilitychange 3',
            'capturing freeze 1',
            'once',
            'document freeze 2',
            'capturing resume 1',
            'once',
            'document resume 2',
            'capturing visibilitychange 1',
            'document visibilitychange 2',
            'bubbling visibilitychange 3',
        ]);
        order.length = 0;
        document.addEventListener('visibilitychange', (/** @type {any} */ event) => event.stopPropagation());
        document.dispatchEvent(new window.Event('visibilitychange', { bubbles: true }));
        window.addEventListener(
            'visibilitychange',
            (/** @type {any} */ event) => event.stopImmediatePropagation(),
            true,
        );
        window.addEventListener('visibilitychange', () => assert.fail('the event was stopped'), true);
        document.dispatchEvent(new window.Event('visibilitychange', { bubbles: true }));
        assert.deepEqual(order, [
            'capturing visibilitychange 1',
            'document visibilitychange 2',
            'capturing visibilitychange 1',
        ]);
        origin.close();
    });

    it('a page that holds a lock does not enter the back/forward cache, unless it releases the lock in pagehide', async () => {
        for (const letsGo of [true, false]) {
            const origin = await createOrigin();
            const tab = origin.openTab();
            await tab.run(
                (/** @type {any} */ window) =>
                    new Promise((held) => {
                        void window.navigator.locks.request(
                            'l',
                            () =>
                                new Promise((resolve) => {
                                    held(undefined);
                                    if (letsGo) window.addEventListener('pagehide', resolve);
                                }),
                        );
                    }),
            );
            assert.equal(await tab.bfcache(), letsGo);
            assert.equal(tab.closed, !letsGo);
            origin.close();
        }
    });

    it('a killed tab runs nothing more, and its last writes may be lost', async () => {
        const outcomes = new Set();
        for (let seed = 0; seed < 20; ++seed) {
            const origin = await createOrigin({ seed });
            const [a, b] = [origin.openTab(), origin.openTab()];
            a.window.setTimeout(() => assert.fail('the tab is dead'), 1);
            a.window.localStorage.setItem('k', 'v');
            a.kill();
            await origin.settled();
            outcomes.add(b.window.localStorage.getItem('k'));
            await new Promise((resolve) => b.window.setTimeout(resolve, 10));
            origin.close();
        }
        assert.deepEqual(outcomes, new Set(['v', null]));
    });

    it('clearSiteData(), corrupt() and setQuota() change localStorage at once', async () => {
        const origin = await createOrigin();
        const { localStorage } = origin.openTab().window;
        localStorage.setItem('k', 'v');
        origin.corrupt('k');
        assert.notEqual(localStorage.getItem('k'), 'v');
        origin.corrupt({ key: 'k', value: 'x' });
        assert.equal(localStorage.getItem('k'), 'x');
        origin.clearSiteData();
        assert.equal(localStorage.length, 0);
        origin.setQuota(3);
        assert.throws(() => localStorage.setItem('long', 'value'), isDom('QuotaExceededError'));
        origin.close();
    });
});

/** @param {any} request @returns {Promise<any>} */
const settled = (request) =>
    new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });

/** @param {any} window @returns {Promise<any>} */
function opened(window) {
    const request = window.indexedDB.open('d', 1);
    request.onupgradeneeded = () => request.result.createObjectStore('s');
    return settled(request);
}

describe('indexedDB (fake-indexeddb)', () => {
    it('a database belongs to the origin: the other tabs read what one commits, and transactions are serialised', async () => {
        const origin = await createOrigin({ seed: 4 });
        const windows = [origin.openTab().window, origin.openTab().window];
        assert.ok(windows[0].indexedDB instanceof windows[0].IDBFactory);
        const [a, b] = await Promise.all(windows.map(opened));
        const add = async (/** @type {any} */ connection) => {
            for (let at = 0; at < 10; ++at) {
                const store = connection.transaction('s', 'readwrite').objectStore('s');
                const n = (await settled(store.get('n'))) ?? 0;
                await settled(store.put(n + 1, 'n'));
            }
        };
        await Promise.all([add(a), add(b)]);
        assert.equal(await settled(b.transaction('s').objectStore('s').get('n')), 20);
        origin.close();
    });

    it('the transaction of a killed tab leaves nothing and holds up nobody, and a lost database closes its connections', async () => {
        const origin = await createOrigin();
        const [a, b] = [origin.openTab(), origin.openTab()];
        const [mine, other] = [await opened(a.window), await opened(b.window)];
        mine.transaction('s', 'readwrite').objectStore('s').put(1, 'k');
        a.kill();
        assert.equal(await settled(other.transaction('s', 'readwrite').objectStore('s').get('k')), undefined);
        const closed = new Promise((resolve) => (other.onclose = resolve));
        origin.loseDatabase();
        await closed;
        assert.deepEqual(await b.window.indexedDB.databases(), []);
        origin.close();
    });
});

describe('createOrigin', () => {
    it('createOrigin() refuses bad and unknown options, and names them', async () => {
        for (const [argument, options] of Object.entries({
            url: { url: 'nowhere' },
            storage: { storage: 'shared' },
            seed: { seed: -1 },
            clock: { clock: 'sundial' },
            quota_bytes: { quota_bytes: 'much' },
            quirks: { quirks: ['unknown'] },
            'options.colour': { colour: 'red' },
        })) {
            await assert.rejects(
                createOrigin(/** @type {any} */ (options)),
                (/** @type {any} */ error) =>
                    error.code === 'invalid-argument' && error.argument === argument,
            );
        }
    });

    it('equal seeds make equal runs, and different seeds different ones', async () => {
        const run = async (/** @type {number} */ seed) => {
            const origin = await createOrigin({ seed });
            const tabs = [origin.openTab(), origin.openTab(), origin.openTab()];
            for (const { window } of tabs) {
                new window.BroadcastChannel('n').onmessage = () =>
                    window.localStorage.setItem('k', String(window.Math.random()));
                void window.navigator.locks.request('l', () =>
                    new window.BroadcastChannel('n').postMessage(1),
                );
            }
            await origin.settled();
            const { hash } = origin;
            origin.close();
            return hash;
        };
        const hashes = [await run(1), await run(1), await run(2), await run(3)];
        assert.equal(hashes[0], hashes[1]);
        assert.equal(new Set(hashes).size, 3);
    });

    it('a thousand tabs open and close', async () => {
        const origin = await createOrigin();
        const tabs = Array.from({ length: 1000 }, () => origin.openTab());
        tabs[0]?.window.localStorage.setItem('k', 'v');
        await origin.settled();
        assert.equal(tabs[999]?.window.localStorage.getItem('k'), 'v');
        await Promise.all(tabs.map((tab) => tab.close()));
        assert.equal(origin.tabs.length, 0);
        origin.close();
    });
});
