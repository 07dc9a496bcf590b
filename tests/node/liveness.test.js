/**
 * Leaders, workers and locks whose tab is suspended without an event, or whose lock nobody holds any more. All
 * times are those of the virtual clock.
 */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOrigin } from 'tabacus/emulator';
import { open } from 'tabacus';

/** Lets so much virtual time pass. @param {any} window @param {number} duration_ms */
const pass = (window, duration_ms) => new Promise((resolve) => window.setTimeout(resolve, duration_ms));

/**
 * Opens tabs, and one more page whose timers let time pass.
 *
 * @param {number} count
 * @param {string} [url]
 */
async function openTabs(count, url = 'https://example.test/') {
    const origin = await createOrigin({ url });
    const clock = origin.openTab().window;
    const tabs = [];
    for (let at = 0; at < count; ++at) {
        const page = origin.openTab();
        const tab = await open({ window: page.window });
        /** @type {string[]} */
        const warnings = [];
        tab.addEventListener('warning', ({ detail }) => void warnings.push(detail.code));
        tabs.push({ page, tab, warnings });
    }
    return { origin, clock, tabs };
}

/** Waits until the condition holds, and returns how long that took. @param {any} clock @param {() => boolean} holds */
async function passUntil(clock, holds) {
    const began_ms = clock.performance.now();
    while (!holds()) {
        assert.ok(clock.performance.now() - began_ms < 600_000, 'it does not happen within ten minutes');
        await pass(clock, 100);
    }
    return clock.performance.now() - began_ms;
}

/** Lets each tab be a candidate. @param {{ tab: import('tabacus').Tab }[]} tabs */
function stand(tabs) {
    /** @type {{ leader: number, lost: unknown[] }} */
    const seen = { leader: -1, lost: [] };
    tabs.forEach(({ tab }, at) => {
        tab.leader('sync')
            .run(() => {
                seen.leader = at;
                return new Promise(() => {});
            })
            .catch(({ code }) => void seen.lost.push(code));
    });
    return seen;
}

describe('leaders', () => {
    it('a leader that is suspended has a successor within 10 s, and is notified when it runs again', async () => {
        const { origin, clock, tabs } = await openTabs(3);
        const seen = stand(tabs);
        await pass(clock, 300_000);
        assert.equal(seen.leader, 0);
        tabs[0]?.page.suspend();
        const took_ms = await passUntil(clock, () => seen.leader !== 0);
        assert.ok(took_ms <= 10_000, `${took_ms} ms`);
        tabs[0]?.page.wake();
        await pass(clock, 1_000);
        assert.deepEqual(seen.lost, ['lock-lost']);
        assert.deepEqual(tabs.map(({ warnings }) => warnings).flat(), ['hung-holder']);
        origin.close();
    });

    it('a visible candidate succeeds a suspended leader although a suspended tab is before it', async () => {
        const { origin, clock, tabs } = await openTabs(3);
        const seen = stand(tabs);
        await pass(clock, 1_000);
        for (const { page } of tabs.slice(0, 2)) page.throttle();
        await pass(clock, 100_000);
        for (const { page } of tabs.slice(0, 2)) page.suspend();
        const took_ms = await passUntil(clock, () => seen.leader === 2);
        assert.ok(took_ms <= 10_000, `${took_ms} ms`);
        origin.close();
    });

    it('a hidden leader that answers keeps its term, and a hidden candidate succeeds it once it is gone', async () => {
        const { origin, clock, tabs } = await openTabs(3);
        const seen = stand(tabs);
        await pass(clock, 1_000);
        for (const { page } of tabs) page.throttle();
        await pass(clock, 1_800_000);
        assert.equal(seen.leader, 0);
        tabs[0]?.page.suspend();
        const took_ms = await passUntil(clock, () => seen.leader !== 0);
        assert.ok(took_ms <= hiddenBound_ms, `${took_ms} ms`);
        origin.close();
    });
});

/**
 * How long a takeover takes at most if all candidates have been hidden for more than five minutes. Nested timers then
 * fire at whole minutes; the timer of a question is set after a message, so it fires at a whole second.
 */
const hiddenBound_ms = 70_000;

describe('workers', () => {
    it('a handler that runs for ten minutes and answers is alive; the job of one that does not is run again', async () => {
        const { origin, clock, tabs } = await openTabs(3);
        /** @type {number[]} */
        const begun = [];
        tabs.forEach(({ tab }, at) =>
            tab.queue('mail').handle(async () => {
                begun.push(at);
                if (begun.length === 1) await new Promise(() => {});
            }),
        );
        await tabs[0]?.tab.queue('mail').enqueue('letter');
        await passUntil(clock, () => begun.length > 0);
        await pass(clock, 600_000);
        assert.equal(begun.length, 1);
        tabs[/** @type {number} */ (begun[0])]?.page.suspend();
        const took_ms = await passUntil(clock, () => begun.length > 1);
        assert.ok(took_ms <= 10_000, `${took_ms} ms`);
        assert.deepEqual(tabs.map(({ warnings }) => warnings).flat(), ['hung-holder']);
        origin.close();
    });

    it('a slot whose Web Lock a stranger holds for ever is taken', async () => {
        const { origin, clock, tabs } = await openTabs(2);
        const name = 'tabacus/default/lock/queue%2Fmail%2F0';
        clock.navigator.locks.request(name, () => new Promise(() => {})).catch(() => {});
        /** @type {unknown[]} */
        const done = [];
        for (const { tab } of tabs) tab.queue('mail').handle((job) => void done.push(job.payload));
        await tabs[0]?.tab.queue('mail').enqueue('letter');
        await pass(clock, 2_000);
        const { held } = await clock.navigator.locks.query();
        assert.ok(held.some((/** @type {any} */ lock) => lock.name === name));
        const took_ms = await passUntil(clock, () => done.length > 0);
        assert.ok(took_ms <= 10_000, `${took_ms} ms`);
        assert.ok(tabs.some(({ warnings }) => warnings.includes('hung-holder')));
        origin.close();
    });
});

describe('delays and jobs that nobody handles', () => {
    for (const days of [-1, 1]) {
        it(`a wall clock that jumps by ${days} day neither hurries nor holds up a delayed job`, async () => {
            const { origin, clock, tabs } = await openTabs(2);
            /** @type {unknown[]} */
            const done = [];
            for (const { tab } of tabs) tab.queue('mail').handle((job) => void done.push(job.payload));
            await tabs[0]?.tab.queue('mail').enqueue('letter', { delay: 10_000 });
            origin.setClock(clock.Date.now() + days * 86_400_000);
            await pass(clock, 9_500);
            assert.deepEqual(done, []);
            await pass(clock, 1_000);
            assert.deepEqual(done, ['letter']);
            origin.close();
        });
    }

    it('a job that no tab handles gives one warning', async () => {
        const { origin, clock, tabs } = await openTabs(2);
        await tabs[0]?.tab.queue('mail').enqueue('letter');
        await pass(clock, 11_000);
        assert.deepEqual(
            tabs.map(({ warnings }) => warnings),
            [['unhandled-job'], []],
        );
        await pass(clock, 300_000);
        assert.equal(tabs[0]?.warnings.length, 1);
        origin.close();
    });
});

describe('locks', () => {
    it('evictUnresponsive takes a lock from a tab that is gone, and no other request does', async () => {
        const { origin, clock, tabs } = await openTabs(3);
        await tabs[0]?.tab.lock('cart').acquire();
        await pass(clock, 1_000);
        tabs[0]?.page.orphanLocks();
        let plain = false;
        void tabs[1]?.tab.lock('cart').run(() => void (plain = true));
        await pass(clock, 120_000);
        assert.equal(plain, false);
        let granted = false;
        void tabs[2]?.tab.lock('cart').run(() => void (granted = true), { evictUnresponsive: true });
        assert.ok((await passUntil(clock, () => granted)) <= 10_000);
        await passUntil(clock, () => plain);
        origin.close();
    });

    it('lockAll takes each of its locks, and a holder that is fenced learns it by its signal', async () => {
        const { origin, clock, tabs } = await openTabs(2);
        const held = await tabs[0]?.tab.lock('b').acquire();
        tabs[0]?.page.suspend();
        let granted = false;
        void tabs[1]?.tab.lockAll(['a', 'b'], () => void (granted = true), { evictUnresponsive: true });
        assert.ok((await passUntil(clock, () => granted)) <= 10_000);
        assert.equal(held?.signal.aborted, false);
        tabs[0]?.page.wake();
        await passUntil(clock, () => held?.signal.aborted === true);
        await assert.rejects(held?.commit('counts', () => {}) ?? Promise.resolve(), { code: 'lock-lost' });
        origin.close();
    });

    it('evictUnresponsive must be true or false', async () => {
        const { origin, tabs } = await openTabs(1);
        const options = /** @type {any} */ ({ evictUnresponsive: 1 });
        await assert.rejects(tabs[0]?.tab.lock('cart').acquire(options) ?? Promise.resolve(), {
            code: 'invalid-argument',
            argument: 'evictUnresponsive',
        });
        origin.close();
    });
});

describe('leases', () => {
    it('a hidden holder that lives keeps lock and term; if it dies, a visible tab succeeds it within 20 s', async () => {
        const { origin, clock, tabs } = await openTabs(2, 'http://example.test/');
        const seen = stand(tabs);
        await pass(clock, 1_000);
        tabs[0]?.page.throttle();
        await pass(clock, 600_000);
        assert.equal(seen.leader, 0);
        tabs[0]?.page.kill();
        const took_ms = await passUntil(clock, () => seen.leader === 1);
        assert.ok(took_ms <= 20_000, `${took_ms} ms`);
        origin.close();
    });
});
