/** Edge cases of the emulator: closed objects, wrong arguments, messages, event listeners. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin, explore, replay } from 'tabacus/emulator';
import { isDom } from './expected-errors.js';

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
