/** Whatever a page does to its own global object, the emulator goes on as the specifications require. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';
import { kept } from './garbage.js';

/** @param {string} what */
const thrower = (what) =>
    function () {
        throw new Error(`the page's ${what}`);
    };

describe('names that a page redefines', () => {
    for (const script of [
        'var Lock = null',
        'function Lock(name) { throw new Error(name) }',
        'class Lock {}',
        'window.Lock = undefined',
        'delete window.Lock',
    ]) {
        it(`a lock is granted and released after \`${script}\``, async () => {
            const origin = await createOrigin();
            const [a, b] = [origin.openTab(), origin.openTab()];
            await a.run(script);
            const granted = a.window.navigator.locks.request('n', (/** @type {any} */ lock) => [
                `${lock}`,
                lock.name,
                lock.mode,
            ]);
            assert.deepEqual(await granted, ['[object Lock]', 'n', 'exclusive']);
            assert.equal(await b.window.navigator.locks.request('n', () => 'granted'), 'granted');
            origin.close();
        });
    }

    it('events have their members, whatever replaces their interfaces, dispatchEvent() and the storages', async () => {
        const origin = await createOrigin({ url: 'https://example.test/' });
        const [tab, other] = [origin.openTab(), origin.openTab()];
        const { window } = tab;
        const { localStorage, StorageEvent } = window;
        /** @type {unknown[]} */
        const uncaught = [];
        origin.uncaught = (error) => uncaught.push(String(error));
        for (const name of [
            'BeforeUnloadEvent',
            'ErrorEvent',
            'LockManager',
            'MessageEvent',
            'PageTransitionEvent',
            'Storage',
            'StorageEvent',
            'dispatchEvent',
        ])
            window[name] = thrower(name);
        Object.defineProperty(window, 'localStorage', { value: { of: 'a mock' } });
        Object.defineProperty(window, 'document', { value: null });
        /** @type {any[]} */
        const received = [];
        for (const type of ['beforeunload', 'error', 'message', 'pagehide', 'storage'])
            window.addEventListener(type, (/** @type {any} */ event) => received.push(event));
        new window.BroadcastChannel('c').onmessage = (/** @type {any} */ event) => received.push(event);
        other.window.localStorage.setItem('k', 'v');
        new other.window.BroadcastChannel('c').postMessage(1);
        window.postMessage(2);
        window.setTimeout(thrower('timer'));
        await new Promise((resolve) => other.window.setTimeout(resolve, 50));
        tab.hide();
        await tab.close();
        const types = received.map((event) => `${event}`.slice(8, -1)).sort();
        assert.deepEqual(types, [
            'BeforeUnloadEvent',
            'ErrorEvent',
            'MessageEvent',
            'MessageEvent',
            'PageTransitionEvent',
            'StorageEvent',
        ]);
        const { storageArea } = received.find((event) => event instanceof StorageEvent);
        assert.equal(storageArea, localStorage);
        assert.deepEqual(uncaught, ["Error: the page's timer"]);
        origin.close();
    });

    it('the schedule goes on after a page has broken the signal of a request', async () => {
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

describe('memory is freed after closing', () => {
    it('the tabs, frames and workers of an open origin are collected', async () => {
        const origin = await createOrigin();
        /** @type {WeakRef<object>[]} */
        const refs = [];
        await (async () => {
            for (let at = 0; at < 20; ++at) {
                const tab = origin.openTab();
                const frame = tab.openFrame();
                const worker = tab.openWorker('onmessage = () => {}');
                for (const { window, scope } of /** @type {any[]} */ ([tab, frame, worker]))
                    refs.push(new WeakRef(window ?? scope));
                tab.window.localStorage.setItem(`${at}`, 'v');
                frame.window.setTimeout(() => {}, 10);
                void tab.window.navigator.locks.request('n', () => {}).catch(() => {});
                worker.postMessage(at);
                tab.window.postMessage(at);
                if (at % 2 === 0) await origin.settled();
                tab.closeFrame(frame);
                if (at % 3 === 0) worker.terminate();
                await tab.close();
            }
            origin.openTab().window.localStorage.getItem('k');
            await origin.settled();
        })();
        assert.equal(await kept(refs), 0);
        assert.equal(origin.tabs.length, 1);
        origin.close();
    });

    it('a closed origin is collected, even if its storage was used last', async () => {
        /** @type {WeakRef<object>[]} */
        const refs = [];
        await (async () => {
            const origin = await createOrigin();
            refs.push(new WeakRef(origin));
            origin.openTab().window.localStorage.getItem('k');
            origin.close();
        })();
        assert.equal(await kept(refs), 0);
    });

    it('a storage event has the address of its writer, also after the writer is closed', async () => {
        const origin = await createOrigin({ url: 'https://example.test/' });
        const [writer, reader] = [origin.openTab({ url: '/writer' }), origin.openTab()];
        /** @type {string[]} */
        const urls = [];
        reader.window.onstorage = (/** @type {any} */ { url }) => urls.push(url);
        writer.window.localStorage.setItem('k', 'v');
        await writer.close();
        await origin.settled();
        assert.deepEqual(urls, ['https://example.test/writer']);
        origin.close();
    });

    it('a document that was removed has no timers (HTML §8.6)', async () => {
        const origin = await createOrigin();
        const tab = origin.openTab();
        const { window } = tab.openFrame();
        assert.equal(
            window.setTimeout(() => {}),
            1,
        );
        tab.closeFrame(/** @type {any} */ (tab.frames[0]));
        assert.deepEqual([window.setTimeout(() => {}), window.setInterval('0')], [0, 0]);
        origin.close();
    });
});
