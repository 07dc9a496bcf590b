/** What a page does to its own global object is its own affair: the emulator goes on as the specifications say. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';

/** @param {string} what */
const thrower = (what) => function () {
    throw new Error(`the page's ${what}`);
};

describe('names that a page takes for itself', () => {
    for (const script of ['var Lock = null', 'function Lock(name) { throw new Error(name) }', 'class Lock {}', 'window.Lock = undefined', 'delete window.Lock']) {
        it(`a lock is granted under \`${script}\`, and let go`, async () => {
            const origin = await createOrigin();
            const [a, b] = [origin.openTab(), origin.openTab()];
            await a.run(script);
            const told = a.window.navigator.locks.request('n', (/** @type {any} */ lock) => [`${lock}`, lock.name, lock.mode]);
            assert.deepEqual(await told, ['[object Lock]', 'n', 'exclusive']);
            assert.equal(await b.window.navigator.locks.request('n', () => 'granted'), 'granted');
            origin.close();
        });
    }

    it('events are what they are, whatever their interfaces, dispatchEvent() and the storages are replaced by', async () => {
        const origin = await createOrigin({ url: 'https://example.test/' });
        const [tab, other] = [origin.openTab(), origin.openTab()];
        const { window } = tab;
        const { localStorage, StorageEvent } = window;
        /** @type {unknown[]} */
        const uncaught = [];
        origin.uncaught = (error) => uncaught.push(String(error));
        for (const name of ['BeforeUnloadEvent', 'ErrorEvent', 'LockManager', 'MessageEvent', 'PageTransitionEvent', 'Storage', 'StorageEvent', 'dispatchEvent']) window[name] = thrower(name);
        Object.defineProperty(window, 'localStorage', { value: { of: 'a mock' } });
        Object.defineProperty(window, 'document', { value: null });
        /** @type {any[]} */
        const heard = [];
        for (const type of ['beforeunload', 'error', 'message', 'pagehide', 'storage']) window.addEventListener(type, (/** @type {any} */ event) => heard.push(event));
        new window.BroadcastChannel('c').onmessage = (/** @type {any} */ event) => heard.push(event);
        other.window.localStorage.setItem('k', 'v');
        new other.window.BroadcastChannel('c').postMessage(1);
        window.postMessage(2);
        window.setTimeout(thrower('timer'));
        await new Promise((resolve) => other.window.setTimeout(resolve, 50));
        tab.hide();
        await tab.close();
        const types = heard.map((event) => `${event}`.slice(8, -1)).sort();
        assert.deepEqual(types, ['BeforeUnloadEvent', 'ErrorEvent', 'MessageEvent', 'MessageEvent', 'PageTransitionEvent', 'StorageEvent']);
        const { storageArea } = heard.find((event) => event instanceof StorageEvent);
        assert.equal(storageArea, localStorage);
        assert.deepEqual(uncaught, ["Error: the page's timer"]);
        origin.close();
    });

    it('the schedule goes on where a page breaks a signal that it gave', async () => {
        const origin = await createOrigin();
        const [a, b] = [origin.openTab(), origin.openTab()];
        /** @type {unknown[]} */
        const uncaught = [];
        origin.uncaught = (error) => uncaught.push(String(error));
        const { signal } = new a.window.AbortController();
        signal.removeEventListener = thrower('signal');
        void a.window.navigator.locks.request('mine', { signal }, () => {});
        assert.equal(await b.window.navigator.locks.request('other', () => 'granted'), 'granted');
        assert.deepEqual(uncaught, ["Error: the page's signal"]);
        origin.close();
    });
});
