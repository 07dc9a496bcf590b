/** The emulator's global objects, and their interface objects and interfaces against Web IDL. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';
import { isDom } from './expected-errors.js';

describe('global objects', () => {
    it('insecure global objects have no locks, no randomUUID() and no subtle (Secure Contexts §3.1)', async () => {
        const insecure = ['http://example.test/', 'http://127.0.0.1.example/', 'http://notlocalhost/'];
        const secure = [
            'https://example.test/',
            'http://localhost:8080/',
            'http://127.9.8.7/',
            'http://[::1]/',
            'http://a.localhost/',
        ];
        for (const url of [...insecure, ...secure]) {
            const origin = await createOrigin({ url });
            const tab = origin.openTab();
            for (const scope of [tab.window, tab.openWorker().scope]) {
                const has = [
                    'locks' in scope.navigator,
                    'Lock' in scope,
                    'LockManager' in scope,
                    'randomUUID' in scope.crypto,
                    'subtle' in scope.crypto,
                    scope.isSecureContext,
                ];
                assert.deepEqual(has, Array(6).fill(secure.includes(url)), url);
            }
            origin.close();
        }
    });

    it('an assignment to a read-only attribute changes nothing', async () => {
        const origin = await createOrigin();
        const tab = origin.openTab();
        for (const name of [
            'localStorage',
            'sessionStorage',
            'navigator',
            'document',
            'location',
            'indexedDB',
            'crypto',
        ]) {
            await tab.run(`${name} = null`);
            assert.ok(tab.window[name], name);
            assert.equal(Reflect.set(tab.window, name, null), false);
            assert.ok(tab.window[name], name);
        }
        origin.close();
    });

    it('window.open() resolves against the opener’s URL; noopener opens an unrelated tab', async () => {
        const origin = await createOrigin({ url: 'https://example.test/a/' });
        const { window } = origin.openTab();
        window.sessionStorage.setItem('k', 'v');
        const opened = window.open('b', 'it');
        assert.deepEqual(
            [opened.location.href, opened.opener === window, opened.name, opened.sessionStorage.k],
            ['https://example.test/a/b', true, 'it', 'v'],
        );
        for (const features of ['noopener', 'popup, noreferrer=yes'])
            assert.equal(window.open('', '_blank', features), null);
        assert.ok(window.open('', '', 'noopener=0'));
        const alone = origin.tabs[2]?.window;
        assert.deepEqual([alone.opener, alone.sessionStorage.length], [null, 0]);
        assert.throws(() => window.open('http://['), isDom('SyntaxError'));
        assert.equal(window.open('https://elsewhere.test/'), null);
        origin.close();
    });

    it('interface objects are own properties of their global object, read or not, until they are deleted (Web IDL §3.7.3)', async () => {
        const origin = await createOrigin();
        const tab = origin.openTab();
        for (const { window } of [tab, { window: tab.openWorker().scope }]) {
            for (const name of ['BroadcastChannel', 'Lock', 'MessagePort', 'Worker']) {
                assert.deepEqual(
                    [Object.hasOwn(window, name), Object.keys(window).includes(name)],
                    [true, false],
                    name,
                );
                assert.equal(typeof window[name], 'function');
                delete window[name];
                assert.equal(name in window, false, name);
            }
            assert.equal(Object.hasOwn(window, window.constructor.name), true);
        }
        assert.equal(await tab.window.navigator.locks.request('n', () => 'granted'), 'granted');
        origin.close();
    });

    it('interface objects are data properties before they are read, as are the interfaces that they inherit from (Web IDL §3.7.3)', async () => {
        const origin = await createOrigin();
        const tab = origin.openTab();
        const described = (/** @type {object} */ global, /** @type {string[]} */ names) =>
            names.map((name) => {
                const { value, writable, enumerable, configurable } =
                    Object.getOwnPropertyDescriptor(global, name) ?? {};
                return [typeof value, writable, enumerable, configurable];
            });
        const names = ['Lock', 'LockManager', 'Event', 'EventTarget', 'DOMException'];
        const good = ['function', true, false, true];
        assert.deepEqual(described(tab.window, ['Storage', 'StorageEvent', ...names]), Array(7).fill(good));
        assert.deepEqual(described(tab.openWorker().scope, names), Array(5).fill(good));
        assert.equal('Storage' in tab.openWorker().scope, false);
        origin.close();
    });

    it('each frame has its own interface objects, and their members accept objects of another frame (Web IDL §3.7.7)', async () => {
        const origin = await createOrigin();
        const tab = origin.openTab();
        const { window } = tab;
        const { window: other } = tab.openFrame();
        for (const name of ['Storage', 'StorageEvent', 'LockManager', 'MessageEvent']) {
            assert.deepEqual(
                [window[name] === other[name], window[name].prototype.constructor === window[name]],
                [false, true],
            );
            assert.throws(() => window[name]('x'), TypeError);
        }
        const event = new other.StorageEvent('x', { key: 'k' });
        assert.deepEqual(
            [event instanceof other.StorageEvent, event instanceof window.StorageEvent],
            [true, false],
        );
        assert.equal(
            Object.getOwnPropertyDescriptor(window.StorageEvent.prototype, 'key')?.get?.call(event),
            'k',
        );
        assert.equal(
            await window.LockManager.prototype.request.call(other.navigator.locks, 'n', () => 'granted'),
            'granted',
        );
        const Mine = /** @type {any} */ (class extends window.StorageEvent {});
        assert.deepEqual(
            [
                new Mine('x', { key: 'm' }).key,
                new Mine('x') instanceof window.StorageEvent,
                Object.getPrototypeOf(window.StorageEvent),
            ],
            ['m', true, window.Event],
        );
        origin.close();
    });

    it('interface objects have names and lengths and no constructors, and each worker has its own', async () => {
        const origin = await createOrigin();
        const tab = origin.openTab();
        const { window } = tab;
        const { scope } = tab.openWorker(undefined, { name: 'w' });
        const lengths = {
            Window: 0,
            Storage: 0,
            Lock: 0,
            LockManager: 0,
            StorageEvent: 1,
            BroadcastChannel: 1,
            QuotaExceededError: 0,
        };
        for (const [name, length] of Object.entries(lengths))
            assert.deepEqual([window[name].name, window[name].length], [name, length]);
        for (const name of ['Window', 'Storage', 'Lock', 'LockManager'])
            assert.throws(() => new window[name](), TypeError);
        assert.ok(window instanceof window.Window && String(window) === '[object Window]');
        assert.ok(
            scope instanceof scope.DedicatedWorkerGlobalScope && scope instanceof scope.WorkerGlobalScope,
        );
        assert.throws(() => new scope.DedicatedWorkerGlobalScope(), TypeError);
        assert.deepEqual(
            [String(scope), scope.name, scope.location.href, String(scope.location)],
            ['[object DedicatedWorkerGlobalScope]', 'w', 'https://example.test/', 'https://example.test/'],
        );
        assert.deepEqual(
            ['Window', 'window', 'document', 'localStorage'].filter((name) => name in scope),
            [],
        );
        let calls = 0;
        Object.defineProperty(window.Storage.prototype, 'counted', {
            get: () => ++calls,
            configurable: true,
        });
        assert.deepEqual([window.localStorage.counted, calls], [1, 1]);
        origin.close();
    });
});

describe('Web IDL', () => {
    it('interfaces inherit, name their attributes and refuse calls as Web IDL specifies', async () => {
        const origin = await createOrigin();
        const { window } = origin.openTab();
        const { BroadcastChannel, MessagePort, StorageEvent, Worker, QuotaExceededError, localStorage } =
            window;
        assert.deepEqual(
            [
                Object.getPrototypeOf(BroadcastChannel) === EventTarget,
                Object.getPrototypeOf(BroadcastChannel.prototype) === EventTarget.prototype,
            ],
            [true, true],
        );
        assert.throws(() => BroadcastChannel.prototype.onmessage, TypeError);
        assert.throws(() => (BroadcastChannel.prototype.onmessage = () => {}), TypeError);
        for (const { prototype } of [MessagePort, Worker]) {
            assert.throws(() => prototype.onmessage, TypeError);
            assert.equal(prototype.postMessage.length, 1);
        }
        const { get, set } = /** @type {any} */ (
            Object.getOwnPropertyDescriptor(BroadcastChannel.prototype, 'onmessage')
        );
        assert.deepEqual([get.name, set.name], ['get onmessage', 'set onmessage']);
        assert.equal(Object.getOwnPropertyDescriptor(StorageEvent.prototype, 'key')?.get?.name, 'get key');
        const error = new QuotaExceededError('full', { quota: 5, requested: 7 });
        assert.deepEqual([error.quota, error.requested, error.code, Object.keys(error)], [5, 7, 22, []]);
        for (const options of [{ quota: -1 }, { requested: -1 }, { quota: 7, requested: 5 }])
            assert.throws(() => new QuotaExceededError('', options), RangeError);
        assert.throws(
            () => Object.defineProperty(localStorage, 'k', { value: 'v', configurable: false }),
            TypeError,
        );
        assert.equal(localStorage.getItem('k'), null);
        origin.close();
    });
});
