/** What the suites of browser-tabs-lock and of broadcast-channel's leader election assert, of our replacements. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { open } from 'tabacus';
import SuperTokensLock from 'tabacus/compat/browser-tabs-lock';
import { createLeaderElection } from 'tabacus/compat/leadership';
import { FakeOrigin, until } from './fake-origin.js';
import { LockOrigin } from './fake-locks.js';

/** @param {number} count */
async function tabs(count) {
    const origin = new FakeOrigin();
    const locks = new LockOrigin();
    const window = (/** @type {number} */ at) =>
        origin.window({ navigator: { locks: locks.manager(`${at}`) } });
    const all = await Promise.all(Array.from({ length: count }, (_, at) => open({ window: window(at) })));
    return { tabs: all, close: () => Promise.all(all.map((tab) => tab.close())) };
}

const wait = (/** @type {number} */ delay_ms) => new Promise((resolve) => setTimeout(resolve, delay_ms));

describe('browser-tabs-lock', () => {
    it('15 tabs count under the lock, exactly', async () => {
        const { tabs: all, close } = await tabs(15);
        let inside = 0;
        let counter = 0;
        await Promise.all(
            all.map(async (tab) => {
                const lock = new SuperTokensLock(undefined, { tab });
                for (let i = 0; i < 5; i++) {
                    assert.equal(await lock.acquireLock('key'), true);
                    assert.equal(++inside, 1);
                    const seen = counter;
                    await wait(0);
                    counter = seen + 1;
                    inside--;
                    await lock.releaseLock('key');
                }
            }),
        );
        assert.equal(counter, 75);
        await close();
    });

    it('is not acquired in another tab until the first is closed', async () => {
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

    it('is not acquired twice in one tab, by one object or by two', async () => {
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

    it('takes its methods off the object, any key and any timeout', async () => {
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
    /** @param {number} count each in a tab of its own @param {number} [each] electors of one tab */
    async function electors(count, each = 1) {
        const { tabs: all, close } = await tabs(count);
        const elector = (/** @type {typeof all[number]} */ tab) =>
            createLeaderElection({ name: 'channel' }, { tab });
        return { all: all.flatMap((tab) => Array.from({ length: each }, () => elector(tab))), close };
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
            const { all, close } = await electors(count, each);
            const answers = await Promise.all(all.map((elector) => elector.applyOnce()));
            while (!all.some(({ isLeader }) => isLeader))
                await Promise.all(all.map((elector) => elector.applyOnce()));
            await wait(50);
            assert.equal(all.filter(({ isLeader }) => isLeader).length, 1);
            assert.ok(answers.filter(Boolean).length <= 1);
            for (const elector of all) assert.equal(await elector.hasLeader(), true);
            await close();
        });
    }

    it('a channel has one elector, as there', async () => {
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

    it('an elector that dies is followed, and never leads again', async () => {
        const { all, close } = await electors(2);
        const [one, other] =
            /** @type {[ReturnType<typeof createLeaderElection>, ReturnType<typeof createLeaderElection>]} */ (
                all
            );
        await one.awaitLeadership();
        let resolved = false;
        void other.awaitLeadership().then(() => (resolved = true));
        await wait(30);
        assert.equal(resolved, false);
        await one.die();
        await until(() => resolved);
        assert.deepEqual([one.isLeader, one.isDead, other.isLeader], [false, true, true]);
        assert.equal(await one.applyOnce(), false);
        await other.die();
        while (await other.hasLeader()) await wait(1);
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

    it('dies when its channel is closed, of whatever class that is', async () => {
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

    it('when the leader’s tab is gone the next is elected', async () => {
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
