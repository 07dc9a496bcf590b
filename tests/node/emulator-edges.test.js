/** The emulator's refusals and its edges: what is closed, set, insecure or asked wrongly. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin, explore, replay } from 'tabacus/emulator';

const isDom = (/** @type {string} */ name) => (/** @type {any} */ error) => error instanceof DOMException && error.name === name;
const isCode = (/** @type {string} */ code, /** @type {string} */ argument = '') => (/** @type {any} */ error) =>
    error.code === code && (argument === '' || error.argument === argument);
/** @type {(call: () => unknown, argument?: string) => void} */
const refuses = (call, argument) => assert.throws(call, isCode('invalid-argument', argument));

describe('what is closed', () => {
    it('a dead tab’s storage is empty, and takes nothing', async () => {
        for (const end of /** @type {const} */ (['kill', 'close'])) {
            const origin = await createOrigin();
            const tab = origin.openTab();
            const { localStorage } = tab.window;
            localStorage.setItem('k', 'v');
            await origin.settled();
            await tab[end]();
            localStorage.setItem('k', 'w');
            assert.deepEqual([localStorage.getItem('k'), localStorage.length, localStorage.key(0), Object.keys(localStorage), localStorage.k], [null, 0, null, [], undefined]);
            assert.equal(origin.openTab({ opener: tab }).window.localStorage.getItem('k'), 'v');
            origin.close();
        }
    });

    it('nothing runs there: `closed`; a frame’s frames go with it', async () => {
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
        for (const closed of [tab, frame, inner, worker]) await assert.rejects(closed.run('1'), isCode('closed'));
        assert.throws(() => tab.openFrame(), isCode('closed'));
        assert.throws(() => tab.openWorker(), isCode('closed'));
        origin.close();
    });

    it('a closed origin: settled() resolves, its hash stays, its tabs are harmless', async () => {
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
        await assert.rejects(window.navigator.locks.request('l', () => {}), isDom('InvalidStateError'));
        assert.throws(() => origin.openTab(), isCode('closed'));
    });
});

describe('arguments are refused at once, by name', () => {
    it('of openTab, openFrame, setQuota, setClock and corrupt', async () => {
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
        for (const bytes of [-1, 1.5, NaN, /** @type {any} */ ('5')]) refuses(() => origin.setQuota(bytes), 'bytes');
        for (const now of [NaN, /** @type {any} */ ('5'), new Date(NaN)]) refuses(() => origin.setClock(now), 'now');
        for (const record of [undefined, 5, null, {}, { key: 'k', store: 's' }, { key: 'k', database: 'd' }]) refuses(() => origin.corrupt(/** @type {any} */ (record)), 'record');
        for (const url of ['data:text/html,x', 'about:blank', 'file:///x']) await assert.rejects(createOrigin({ url }), isCode('invalid-argument', 'url'));
        for (const one of [origin, other]) one.close();
    });

    it('of explore and replay; a signal that was aborted ends it before it begins', async () => {
        const reason = new Error('enough');
        let began = 0;
        await assert.rejects(explore(() => ++began, { seeds: 0, signal: AbortSignal.abort(reason) }), reason);
        assert.equal(began, 0);
        for (const found of [undefined, {}, { seed: 1, schedule: 'x' }]) await assert.rejects(replay(() => {}, /** @type {any} */ (found)), isCode('invalid-argument', 'found'));
    });
});

describe('the wall clock', () => {
    it('is set alone: timers and performance.now() do not notice, and do not undo it', async () => {
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
        const never = window.navigator.locks.request('l', () => window.navigator.locks.request('l', { signal }, () => {}));
        await assert.rejects(never, isDom('TimeoutError'));
        assert.equal(window.performance.now(), 3_600_000);
        for (const ms of [-1, NaN, Infinity]) assert.throws(() => window.AbortSignal.timeout(ms), TypeError);
        assert.throws(() => window.AbortSignal.timeout(), TypeError);
        origin.close();
    });
});
