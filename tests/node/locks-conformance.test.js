/** LockManager of tabacus/compat/locks against W3C Web Locks. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { open } from 'tabacus';
import { Lock, LockManager } from 'tabacus/compat/locks';
import { FakeOrigin } from './fake-origin.js';
import { LockOrigin } from './fake-locks.js';
import { lockSuite } from './lock-suite.js';
import { deferred, rejectsDom } from './lock-suite-helpers.js';

/** Two tabs of one origin. @param {boolean} [lease] where the browser has no locks */
function openTabs(lease) {
    const origin = new FakeOrigin();
    const browser = new LockOrigin();
    const window = (/** @type {number} */ at) =>
        origin.window({ navigator: lease ? {} : { locks: browser.manager(`${at}`) } });
    return Promise.all([0, 1].map((at) => open({ window: window(at) })));
}

for (const lease of [false, true]) {
    lockSuite(`LockManager over ${lease ? 'the lease' : 'Web Locks'}`, async () => {
        const tabs = await openTabs(lease);
        const [locks, others] = tabs.map((tab) => new LockManager(tab));
        return { locks, others, Lock, LockManager, end: () => Promise.all(tabs.map((tab) => tab.close())) };
    });
}

describe('LockManager and its tab', () => {
    /** @type {import('tabacus').Tab[]} */
    let tabs = [];
    before(async () => {
        tabs = await openTabs();
    });
    after(() => Promise.all(tabs.map((tab) => tab.close())));

    it('a name means the same lock in every manager and in tab.lock()', async () => {
        const name = 'the same';
        const [granted, end] = [deferred(), deferred()];
        const first = new LockManager(tabs[1]).request(name, () => (granted.resolve(), end.promise));
        await granted.promise;
        assert.equal(
            await new LockManager(tabs[0]).request(name, { ifAvailable: true }, (lock) => lock),
            null,
        );
        assert.equal(await tabs[0]?.lock(name).run((lock) => lock, { ifAvailable: true }), null);
        end.resolve();
        await first;
    });

    it('a request of a document that was removed is an InvalidStateError', async () => {
        const window = new FakeOrigin().window({ navigator: { locks: new LockOrigin().manager('gone') } });
        const tab = await open({ window });
        const manager = new LockManager(tab);
        await manager.request('n', () => {});
        await tab.close();
        await rejectsDom(
            manager.request('n', () => assert.fail('the callback must not be called')),
            'InvalidStateError',
        );
        await rejectsDom(manager.query(), 'InvalidStateError');
    });
});
