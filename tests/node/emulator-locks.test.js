/** The emulator's navigator.locks against the letter of W3C Web Locks. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';
import { lockSuite } from './lock-suite.js';
import { deferred, rejectsDom } from './lock-suite-helpers.js';

const setups = {
    'two tabs': (/** @type {import('tabacus/emulator').Origin} */ origin) => [
        origin.openTab().window,
        origin.openTab().window,
    ],
    'a tab and its frame': (/** @type {import('tabacus/emulator').Origin} */ origin) => {
        const tab = origin.openTab();
        return [tab.window, tab.openFrame().window];
    },
    'a tab and its worker': (/** @type {import('tabacus/emulator').Origin} */ origin) => {
        const tab = origin.openTab();
        return [tab.window, tab.openWorker().scope];
    },
};

for (const [name, open] of Object.entries(setups)) {
    for (const seed of [undefined, 11]) {
        lockSuite(`navigator.locks of ${name}, ${seed ? 'by a seed' : 'in order'}`, async () => {
            const origin = await createOrigin({ seed });
            const [mine, theirs] = open(origin);
            const { Lock, LockManager } = mine;
            // The suite checks locks of the first context with `instanceof`, so it takes the interfaces of
            // that context.
            return {
                locks: mine.navigator.locks,
                others: theirs.navigator.locks,
                Lock,
                LockManager,
                end: () => origin.close(),
            };
        });
    }
}

const never = () => new Promise(() => {});

describe('navigator.locks', () => {
    it('navigator.locks is always one object, and its interfaces have no constructors and enumerable operations', async () => {
        const origin = await createOrigin();
        const { navigator, LockManager, Lock } = origin.openTab().window;
        assert.equal(navigator.locks, navigator.locks);
        assert.ok(navigator.locks instanceof LockManager);
        for (const Interface of [LockManager, Lock]) assert.throws(() => new Interface(), TypeError);
        assert.deepEqual(Object.keys(LockManager.prototype), ['request', 'query']);
        await assert.rejects(LockManager.prototype.query.call({}), TypeError);
        origin.close();
    });

    it('§2.6: a killed tab, a removed frame and a terminated worker release their locks and give up their requests', async () => {
        const origin = await createOrigin();
        const watcher = origin.openTab();
        /** @type {(() => { locks: any, end: () => void })[]} */
        const kinds = [
            () => {
                const tab = origin.openTab();
                return { locks: tab.window.navigator.locks, end: () => tab.kill() };
            },
            () => {
                const tab = origin.openTab();
                return { locks: tab.window.navigator.locks, end: () => void tab.close() };
            },
            () => {
                const frame = watcher.openFrame();
                return { locks: frame.window.navigator.locks, end: () => watcher.closeFrame(frame) };
            },
            () => {
                const worker = watcher.openWorker();
                return { locks: worker.scope.navigator.locks, end: () => worker.terminate() };
            },
        ];
        for (const make of kinds) {
            const [holder, waiter] = [make(), make()];
            const granted = deferred();
            void holder.locks.request('l', () => (granted.resolve(), never()));
            await granted.promise;
            void waiter.locks.request('l', () => assert.fail('the waiter is gone'));
            const mine = watcher.window.navigator.locks.request('l', () => 'mine');
            waiter.end();
            await origin.settled();
            assert.equal((await watcher.window.navigator.locks.query()).pending.length, 1);
            holder.end();
            assert.equal(await mine, 'mine');
        }
        origin.close();
    });

    it('§3.2.1: a request of a document that is not fully active is an InvalidStateError', async () => {
        const origin = await createOrigin();
        const tab = origin.openTab();
        const frame = tab.openFrame();
        const { locks } = frame.window.navigator;
        tab.closeFrame(frame);
        await rejectsDom(
            locks.request('n', () => assert.fail()),
            'InvalidStateError',
        );
        await rejectsDom(locks.query(), 'InvalidStateError');
        origin.close();
    });

    it('§4.1: a previous holder is notified of a steal, and its later release changes nothing', async () => {
        for (const late of ['resolve', 'reject']) {
            const origin = await createOrigin();
            const [a, b] = [origin.openTab(), origin.openTab()].map((tab) => tab.window.navigator.locks);
            const end = deferred();
            const stolenFrom = rejectsDom(
                a.request('l', () => end.promise),
                'AbortError',
            );
            const stealer = deferred();
            const stolen = b.request('l', { steal: true }, () => stealer.promise);
            await stolenFrom;
            /** @type {any} */ (end)[late](new Error('late'));
            await origin.settled();
            assert.equal((await a.query()).held.length, 1, 'the stealer still holds it');
            stealer.resolve('done');
            assert.equal(await stolen, 'done');
            origin.close();
        }
    });

    it('§4.4: a request aborted after its grant and before its callback is released, and its callback is not called', async () => {
        const origin = await createOrigin();
        const { navigator, BroadcastChannel } = origin.openTab().window;
        const controller = new AbortController();
        const [sender, receiver] = [new BroadcastChannel('n'), new BroadcastChannel('n')];
        receiver.onmessage = () => controller.abort('changed my mind');
        let called = false;
        const request = navigator.locks.request('l', { signal: controller.signal }, () => (called = true));
        sender.postMessage('before the grant is reported');
        await assert.rejects(request, (error) => /** @type {unknown} */ (error) === 'changed my mind');
        assert.equal(await navigator.locks.request('l', () => 'next'), 'next');
        assert.equal(called, false);
        origin.close();
    });

    it('a frozen holder keeps its lock, and goes on when it is resumed', async () => {
        const origin = await createOrigin();
        const [a, b] = [origin.openTab(), origin.openTab()];
        const end = deferred();
        const held = a.window.navigator.locks.request('l', () => end.promise);
        await origin.settled();
        a.freeze();
        let granted = false;
        const next = b.window.navigator.locks.request('l', () => (granted = true));
        await origin.settled();
        assert.equal(granted, false);
        a.thaw();
        end.resolve();
        await held;
        assert.equal(await next, true);
        origin.close();
    });

    it('under the quirk no-wake-after-abort a request behind an aborted one waits for the holder (Chromium 156)', async () => {
        for (const quirks of [[], /** @type {const} */ (['no-wake-after-abort'])]) {
            const origin = await createOrigin({ quirks });
            const { locks } = origin.openTab().window.navigator;
            const end = deferred();
            void locks.request('l', { mode: 'shared' }, () => end.promise);
            const controller = new AbortController();
            const writer = rejectsDom(
                locks.request('l', { signal: controller.signal }, () => assert.fail()),
                'AbortError',
            );
            let read = false;
            void locks.request('l', { mode: 'shared' }, () => (read = true));
            await origin.settled();
            controller.abort();
            await writer;
            await origin.settled();
            assert.equal(read, quirks.length === 0);
            end.resolve();
            await origin.settled();
            assert.equal(read, true);
            origin.close();
        }
    });
});
