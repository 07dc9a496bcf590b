/** Edge cases of the emulator: closed objects, wrong arguments, insecure contexts, interface objects. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin, explore, replay } from 'tabacus/emulator';

const isDom = (/** @type {string} */ name) => (/** @type {any} */ error) =>
    error instanceof DOMException && error.name === name;
const isCode =
    (/** @type {string} */ code, /** @type {string} */ argument = '') =>
    (/** @type {any} */ error) =>
        error.code === code && (argument === '' || error.argument === argument);
/** @type {(call: () => unknown, argument?: string) => void} */
const refuses = (call, argument) => assert.throws(call, isCode('invalid-argument', argument));

describe('closed objects', () => {
    it('the storage of a dead tab is empty, and keeps nothing that is written to it', async () => {
        for (const end of /** @type {const} */ (['kill', 'close'])) {
            const origin = await createOrigin();
            const tab = origin.openTab();
            const { localStorage } = tab.window;
            localStorage.setItem('k', 'v');
            await origin.settled();
            await tab[end]();
            localStorage.setItem('k', 'w');
            assert.deepEqual(
                [
                    localStorage.getItem('k'),
                    localStorage.length,
                    localStorage.key(0),
                    Object.keys(localStorage),
                    localStorage.k,
                ],
                [null, 0, null, [], undefined],
            );
            assert.equal(origin.openTab({ opener: tab }).window.localStorage.getItem('k'), 'v');
            origin.close();
        }
    });

    it('a call into a closed tab rejects with `closed`, and so does one into its frames and workers', async () => {
        const origin = await createOrigin();
        const tab = origin.openTab();
        const frame = tab.openFrame();
        const inner = tab.openFrame({ parent: frame });
        const worker = tab.openWorker();
        assert.equal(await frame.run(() => window.parent !== window), true);
        assert.equal(await worker.run('typeof localStorage'), 'undefined');
        tab.closeFrame(frame);
        assert.deepEqual(tab.frames, []);
        worker.terminate();
        await tab.close();
        for (const closed of [tab, frame, inner, worker])
            await assert.rejects(closed.run('1'), isCode('closed'));
        assert.throws(() => tab.openFrame(), isCode('closed'));
        assert.throws(() => tab.openWorker(), isCode('closed'));
        origin.close();
    });

    it('a closed origin still settles and has its hash, and calls to its tabs do no harm', async () => {
        const origin = await createOrigin({ seed: 1 });
        const { window } = origin.openTab();
        window.setTimeout(() => {}, 5);
        await origin.settled();
        const { hash } = origin;
        origin.close();
        origin.close();
        await origin.settled();
        assert.equal(origin.hash, hash);
        assert.equal(window.localStorage.getItem('k'), null);
        assert.ok(window.Date.now() > 0);
        new window.BroadcastChannel('n').postMessage(1);
        await assert.rejects(
            window.navigator.locks.request('l', () => {}),
            isDom('InvalidStateError'),
        );
        assert.throws(() => origin.openTab(), isCode('closed'));
    });
});

describe('arguments are refused at once, by name', () => {
    it('openTab, openFrame, setQuota, setClock and corrupt refuse bad arguments', async () => {
        const [origin, other] = [await createOrigin(), await createOrigin()];
        const tab = origin.openTab();
        /** @type {any} */
        const wrong = { colour: 'red' };
        refuses(() => origin.openTab(wrong), 'options.colour');
        refuses(() => origin.openTab({ opener: other.openTab() }), 'opener');
        refuses(() => origin.openTab({ opener: tab.window }), 'opener');
        for (const url of ['https://elsewhere.test/', 'http://[', 'about:blank']) {
            refuses(() => origin.openTab({ url }), 'url');
            refuses(() => tab.openFrame({ url }), 'url');
        }
        refuses(() => tab.openFrame(wrong), 'options.colour');
        refuses(() => tab.openFrame({ parent: other.openTab().openFrame() }), 'parent');
        for (const bytes of [-1, 1.5, NaN, /** @type {any} */ ('5')])
            refuses(() => origin.setQuota(bytes), 'bytes');
        for (const now of [NaN, /** @type {any} */ ('5'), new Date(NaN)])
            refuses(() => origin.setClock(now), 'now');
        for (const record of [undefined, 5, null, {}, { key: 'k', store: 's' }, { key: 'k', database: 'd' }])
            refuses(() => origin.corrupt(/** @type {any} */ (record)), 'record');
        refuses(() => origin.corrupt(/** @type {any} */ ({ key: 'k', colour: 'red' })), 'record.colour');
        for (const record of [
            { key: Symbol('k') },
            { key: 'k', value: {} },
            { key: 1, database: 7, store: 7 },
            { key: NaN, database: 'd', store: 's' },
            { key: {}, database: 'd', store: 's' },
        ]) {
            refuses(() => origin.corrupt(/** @type {any} */ (record)), 'record');
        }
        for (const stranger of [7, 'x', null, other.openTab()])
            refuses(() => origin.closeConnections(/** @type {any} */ (stranger)), 'tab');
        for (const [argument, options] of Object.entries({ url: { url: null }, quirks: { quirks: null } }))
            await assert.rejects(
                createOrigin(/** @type {any} */ (options)),
                isCode('invalid-argument', argument),
            );
        for (const url of ['data:text/html,x', 'about:blank', 'file:///x'])
            await assert.rejects(createOrigin({ url }), isCode('invalid-argument', 'url'));
        for (const one of [origin, other]) one.close();
    });

    it('explore and replay refuse bad arguments, and an aborted signal ends them before they begin', async () => {
        const reason = new Error('enough');
        let began = 0;
        await assert.rejects(
            explore(() => ++began, { seeds: 0, signal: AbortSignal.abort(reason) }),
            reason,
        );
        assert.equal(began, 0);
        for (const faultBudget of [NaN, 'x'])
            await assert.rejects(
                explore(() => {}, /** @type {any} */ ({ faultBudget })),
                isCode('invalid-argument', 'faultBudget'),
            );
        for (const found of [undefined, {}, { seed: 1, schedule: 'x' }])
            await assert.rejects(
                replay(() => {}, /** @type {any} */ (found)),
                isCode('invalid-argument', 'found'),
            );
    });
});

describe('the wall clock', () => {
    it('setClock() sets the wall clock alone: timers and performance.now() do not notice, and do not undo it', async () => {
        const origin = await createOrigin();
        const { window } = origin.openTab();
        const later = new Promise((resolve) => window.setTimeout(() => resolve(window.Date.now()), 1000));
        origin.setClock(5_000_000);
        assert.equal(window.performance.now(), 0);
        assert.equal(window.Date.now(), 5_000_000);
        assert.equal(await later, 5_001_000);
        assert.equal(window.performance.now(), 1000);
        origin.setClock(new Date(0));
        await new Promise((resolve) => window.setTimeout(resolve, 10));
        assert.deepEqual([window.Date.now(), window.performance.now()], [10, 1010]);
        origin.close();
    });

    it('AbortSignal.timeout() goes by the origin’s clock (DOM §3.2)', async () => {
        const origin = await createOrigin();
        const { window } = origin.openTab();
        const signal = window.AbortSignal.timeout(3_600_000);
        assert.ok(signal instanceof window.AbortSignal && signal instanceof AbortSignal && !signal.aborted);
        const never = window.navigator.locks.request('l', () =>
            window.navigator.locks.request('l', { signal }, () => {}),
        );
        await assert.rejects(never, isDom('TimeoutError'));
        assert.equal(window.performance.now(), 3_600_000);
        for (const ms of [-1, NaN, Infinity]) assert.throws(() => window.AbortSignal.timeout(ms), TypeError);
        assert.throws(() => window.AbortSignal.timeout(), TypeError);
        origin.close();
    });
});

describe('postMessage (HTML §9.3.3, §10.2.6.3)', () => {
    it('postMessage() of a window takes targetOrigin in all its forms, and transfers ports', async () => {
        const origin = await createOrigin();
        const { window } = origin.openTab();
        /** @type {any[]} */
        const received = [];
        window.onmessage = (/** @type {any} */ event) => received.push(event);
        assert.throws(() => window.postMessage(), TypeError);
        for (const wrong of ['nowhere', '', 'http://['])
            assert.throws(() => window.postMessage(0, wrong), isDom('SyntaxError'));
        assert.throws(() => window.postMessage(0, { targetOrigin: 'nowhere' }), isDom('SyntaxError'));
        assert.throws(() => window.postMessage(0, '*', 5), TypeError);
        for (const foreign of ['https://elsewhere.test', { targetOrigin: 'http://example.test' }])
            window.postMessage('foreign', foreign);
        for (const mine of ['*', '/', 'https://example.test/path', {}, undefined, null])
            window.postMessage('mine', mine);
        const [{ port1, port2 }, bytes] = [new window.MessageChannel(), new ArrayBuffer(3)];
        window.postMessage({ port2, bytes }, { targetOrigin: '*', transfer: [port2, bytes] });
        assert.equal(bytes.byteLength, 0);
        await origin.settled();
        assert.deepEqual(received.map(({ data }) => data).slice(0, 6), Array(6).fill('mine'));
        const { data, ports } = received[6];
        assert.deepEqual(
            [received.length, data.bytes.byteLength, ports.length, ports[0] === data.port2],
            [7, 3, 1, true],
        );
        port1.close();
        origin.close();
    });

    it('postMessage() to and from a worker takes a sequence or options', async () => {
        const origin = await createOrigin();
        const worker = origin
            .openTab()
            .openWorker(
                'onmessage = ({ data, ports }) => postMessage([data.byteLength, ports.length], [data])',
            );
        /** @type {any[]} */
        const received = [];
        worker.onmessage = (/** @type {any} */ { data }) => received.push(data);
        const bytes = [new ArrayBuffer(1), new ArrayBuffer(2)];
        worker.postMessage(bytes[0], [bytes[0]]);
        worker.postMessage(bytes[1], { transfer: [bytes[1]] });
        await origin.settled();
        assert.deepEqual(
            [received, bytes.map(({ byteLength }) => byteLength)],
            [
                [
                    [1, 0],
                    [2, 0],
                ],
                [0, 0],
            ],
        );
        assert.throws(() => /** @type {any} */ (worker).postMessage(), TypeError);
        assert.throws(() => worker.postMessage(0, [new ArrayBuffer(1), 5]), TypeError);
        origin.close();
    });
});

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

describe('events', () => {
    it('an event handler that is set to null loses its position among the listeners (HTML §8.1.8.1)', async () => {
        const origin = await createOrigin();
        const { window } = origin.openTab();
        /** @type {string[]} */
        const order = [];
        window.onstorage = () => order.push('first');
        window.addEventListener('storage', () => order.push('listener'));
        window.onstorage = () => order.push('handler');
        window.dispatchEvent(new window.StorageEvent('storage'));
        window.onstorage = null;
        window.onstorage = () => order.push('again');
        window.dispatchEvent(new window.StorageEvent('storage'));
        assert.deepEqual(order, ['handler', 'listener', 'listener', 'again']);
        origin.close();
    });

    it('initStorageEvent() converts its arguments from left to right, and does nothing during dispatch (DOM §2.2)', async () => {
        const origin = await createOrigin();
        const { window } = origin.openTab();
        /** @type {string[]} */
        const order = [];
        const tracked = (/** @type {string} */ name) => ({ toString: () => (order.push(name), name) });
        const event = new window.StorageEvent('x');
        event.initStorageEvent(
            tracked('type'),
            true,
            false,
            tracked('key'),
            tracked('old'),
            tracked('new'),
            tracked('url'),
        );
        assert.deepEqual(order, ['type', 'key', 'old', 'new', 'url']);
        assert.deepEqual(
            [event.key, event.oldValue, event.newValue, event.url, event.bubbles],
            ['key', 'old', 'new', 'url', true],
        );
        const target = new EventTarget();
        const during = new window.StorageEvent('y', { key: 'k' });
        target.addEventListener('y', () => during.initStorageEvent('z'));
        target.dispatchEvent(during);
        assert.deepEqual([during.type, during.key], ['y', 'k']);
        origin.close();
    });

    it('a tab that is closed receives beforeunload, pagehide, visibilitychange, unload', async () => {
        const origin = await createOrigin();
        const tab = origin.openTab();
        /** @type {string[]} */
        const order = [];
        for (const type of ['unload', 'visibilitychange', 'pagehide', 'beforeunload'])
            tab.window.addEventListener(type, () => order.push(type));
        await tab.close();
        assert.deepEqual(order, ['beforeunload', 'pagehide', 'visibilitychange', 'unload']);
        origin.close();
    });
});
