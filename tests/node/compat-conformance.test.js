/**
 * The assertions of the test suites of browser-tabs-lock and of broadcast-channel's leader election, for our
 * replacements.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import SuperTokensLock from 'tabacus/compat/browser-tabs-lock';
import { createLeaderElection } from 'tabacus/compat/leadership';
import { tabs } from './open-tabs.js';

describe('browser-tabs-lock', () => {
    it('15 tabs that count under the lock lose no increment', async () => {
        const { tabs: all, close, sleep } = await tabs(15);
        let inside = 0;
        let counter = 0;
        await Promise.all(
            all.map(async (tab) => {
                const lock = new SuperTokensLock(undefined, { tab });
                for (let i = 0; i < 5; i++) {
                    assert.equal(await lock.acquireLock('key'), true);
                    assert.equal(++inside, 1);
                    const seen = counter;
                    await sleep(0);
                    counter = seen + 1;
                    inside--;
                    await lock.releaseLock('key');
                }
            }),
        );
        assert.equal(counter, 75);
        await close();
    });

    it('a lock that one tab holds is acquired by another only after the first is closed', async () => {
        const {
            tabs: [a, b],
            close,
        } = await tabs(2);
        assert.equal(await new SuperTokensLock(undefined, { tab: a }).acquireLock('key'), true);
        const other = new SuperTokensLock(undefined, { tab: b });
        assert.equal(await other.acquireLock('key', 50), false);
        await a?.close();
        assert.equal(await other.acquireLock('key', 5000), true);
        await close();
    });

    it('a lock is not acquired twice in one tab, by one object or by two', async () => {
        const {
            tabs: [tab],
            close,
        } = await tabs(1);
        const [one, two] = [new SuperTokensLock(undefined, { tab }), new SuperTokensLock(undefined, { tab })];
        assert.equal(await one.acquireLock('key'), true);
        assert.equal(await one.acquireLock('key', 50), false);
        assert.equal(await two.acquireLock('key', 50), false);
        await two.releaseLock('key');
        assert.equal(
            await two.acquireLock('key', 50),
            false,
            'only the instance that acquired it releases it',
        );
        assert.equal(await two.acquireLock('other key', 50), true);
        await one.releaseLock('key');
        assert.equal(await two.acquireLock('key'), true);
        await close();
    });

    it('the methods work without their object, with any key and any timeout', async () => {
        const {
            tabs: [tab],
            close,
        } = await tabs(1);
        const { acquireLock, releaseLock } = new SuperTokensLock(undefined, { tab });
        for (const key of ['', 'a\0b', '\uD800', 'k'.repeat(2000)]) {
            assert.equal(await acquireLock(key, Infinity), true);
            await releaseLock(key);
        }
        const seven = /** @type {any} */ (7);
        assert.equal(await acquireLock(seven), true);
        await releaseLock('7');
        assert.equal(await acquireLock('7', 50), true, 'keys are strings');
        await releaseLock(seven);
        for (const timeout of [0, -1, NaN]) assert.equal(await acquireLock('free', timeout), false);
        await close();
    });
});

describe('leader election', () => {
    /** @param {number} count of tabs @param {number} [each] the number of electors in each of them */
    async function electors(count, each = 1) {
        const { tabs: all, close, sleep, until } = await tabs(count);
        const elector = (/** @type {typeof all[number]} */ tab) =>
            createLeaderElection({ name: 'channel' }, { tab });
        const made = all.flatMap((tab) => Array.from({ length: each }, () => elector(tab)));
        return { all: made, close, sleep, until };
    }

    it('a single elector is elected', async () => {
        const {
            all: [elector],
            close,
        } = await electors(1);
        assert.equal(await elector?.applyOnce(), true);
        assert.equal(elector?.isLeader, true);
        assert.equal(await elector.applyOnce(), true);
        await elector.awaitLeadership();
        await close();
    });

    for (const [count, each] of /** @type {[number, number][]} */ ([
        [2, 1],
        [1, 2],
        [10, 2],
    ])) {
        it(`one of ${count * each} electors in ${count} tabs is elected`, async () => {
            const { all, close, sleep } = await electors(count, each);
            const answers = await Promise.all(all.map((elector) => elector.applyOnce()));
            while (!all.some(({ isLeader }) => isLeader))
                await Promise.all(all.map((elector) => elector.applyOnce()));
            await sleep(50);
            assert.equal(all.filter(({ isLeader }) => isLeader).length, 1);
            assert.ok(answers.filter(Boolean).length <= 1);
            for (const elector of all) assert.equal(await elector.hasLeader(), true);
            await close();
        });
    }

    it('a second elector of one channel object is refused with the message of broadcast-channel', async () => {
        const {
            tabs: [tab],
            close,
        } = await tabs(1);
        const channel = { name: 'channel' };
        createLeaderElection(channel, { tab });
        assert.throws(() => createLeaderElection(channel, { tab }), {
            message: 'BroadcastChannel already has a leader-elector',
        });
        await close();
    });

    it('an elector that dies has a successor, and never leads again', async () => {
        const { all, close, until, sleep } = await electors(2);
        const [one, other] =
            /** @type {[ReturnType<typeof createLeaderElection>, ReturnType<typeof createLeaderElection>]} */ (
                all
            );
        await one.awaitLeadership();
        let resolved = false;
        void other.awaitLeadership().then(() => (resolved = true));
        await sleep(30);
        assert.equal(resolved, false);
        await one.die();
        await until(() => resolved);
        assert.deepEqual([one.isLeader, one.isDead, other.isLeader], [false, true, true]);
        assert.equal(await one.applyOnce(), false);
        await other.die();
        while (await other.hasLeader()) await sleep(1);
        await close();
    });

    it('an elector that awaits and applies at once leads once, and both resolve', async () => {
        const {
            all: [elector, next],
            close,
        } = await electors(2);
        const awaited = elector?.awaitLeadership();
        await elector?.applyOnce();
        await awaited;
        assert.equal(elector?.isLeader, true);
        const follows = next?.awaitLeadership();
        await elector.die();
        await follows;
        assert.equal(next?.isLeader, true);
        await close();
    });

    it('an elector dies when its channel is closed, whatever the class of the channel', async () => {
        const {
            tabs: [a, b],
            close,
        } = await tabs(2);
        const closed = { name: 'channel', close: async (/** @type {number} */ how) => how };
        const [one, other] = [
            createLeaderElection(closed, { tab: a }),
            createLeaderElection(new BroadcastChannel('channel'), { tab: b }),
        ];
        assert.deepEqual([one.broadcastChannel, one.token === other.token], [closed, false]);
        await one.awaitLeadership();
        const follows = other.awaitLeadership();
        assert.equal(await closed.close(5), 5);
        assert.deepEqual([one.isDead, one.isLeader], [true, false]);
        await follows;
        assert.equal(other.isLeader, true);
        /** @type {any} */ (other.broadcastChannel).close();
        assert.equal(other.isDead, true);
        await close();
    });

    it('the next elector is elected when the leader’s tab is closed', async () => {
        const {
            tabs: [a, b],
            close,
        } = await tabs(2);
        const [one, other] = [
            createLeaderElection({ name: 'channel' }, { tab: a }),
            createLeaderElection({ name: 'channel' }, { tab: b }),
        ];
        await one.awaitLeadership();
        const follows = other.awaitLeadership();
        await a?.close();
        await follows;
        assert.deepEqual([one.isLeader, other.isLeader], [false, true]);
        await close();
    });
});
