/** LockManager of tabacus/compat/locks against W3C Web Locks. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Lock, LockManager } from 'tabacus/compat/locks';
import { tabs } from './open-tabs.js';
import { lockSuite } from './lock-suite.js';
import { deferred, rejectsDom } from './lock-suite-helpers.js';

for (const lease of [false, true]) {
    lockSuite(`LockManager over ${lease ? 'the lease' : 'Web Locks'}`, async () => {
        const { tabs: both, close } = await tabs(2, lease ? { navigator: {} } : {});
        const [locks, others] = both.map((tab) => new LockManager(tab));
        return { locks, others, Lock, LockManager, end: close };
    });
}

describe('LockManager and its tab', () => {
    /** @type {Awaited<ReturnType<typeof tabs>>} */
    let opened;
    before(async () => {
        opened = await tabs(2);
    });
    after(() => opened.close());

    it('a name means the same lock in every manager and in tab.lock()', async () => {
        const name = 'the same';
        const [granted, end] = [deferred(), deferred()];
        const first = new LockManager(opened.tabs[1]).request(name, () => (granted.resolve(), end.promise));
        await granted.promise;
        assert.equal(
            await new LockManager(opened.tabs[0]).request(name, { ifAvailable: true }, (lock) => lock),
            null,
        );
        assert.equal(await opened.tabs[0].lock(name).run((lock) => lock, { ifAvailable: true }), null);
        end.resolve();
        await first;
    });

    it('a request of a document that was removed is an InvalidStateError', async () => {
        const {
            tabs: [tab],
        } = await tabs(1);
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
