/**
 * Site data that is cleared while tabs are open: whatever rested on the store is lost at once, and tabs whose lock manager
 * is not that of new documents take part in no exclusion any more.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from 'tabacus';
import { createOrigin, explore } from 'tabacus/emulator';
import { failsWith } from './expected-errors.js';
import { details } from './page-waits.js';

/** @typedef {import('tabacus').Tab} Tab */
/** @typedef {import('tabacus/emulator').Tab} EmulatedTab */

/** @param {EmulatedTab} tab @param {number} delay_ms of virtual time */
const sleep = (tab, delay_ms) => new Promise((resolve) => tab.window.setTimeout(resolve, delay_ms));

/** The part of an error that says why a lock was lost. */
const cleared = (/** @type {any} */ { code, message }) =>
    code === 'lock-lost' && message.includes('site-data-cleared');

/**
 * Uses everything in a tab until the site's data is cleared, and resolves with the losses that were reported.
 *
 * @param {Tab} ours
 */
async function work(ours) {
    /** @type {any[]} */
    const losses = [];
    const held = await ours.lock('own').acquire();
    held.signal.addEventListener('abort', () => losses.push(['lock', held.signal.reason]));
    const permit = await ours.semaphore('s', 2).acquire();
    permit.signal.addEventListener('abort', () => losses.push(['permit', permit.signal.reason]));
    const term = await ours.leader('l').lead();
    term.signal.addEventListener('abort', () => losses.push(['term', term.signal.reason]));
    const queue = ours.queue('q');
    queue.handle(
        ({ signal }) =>
            new Promise(() => signal.addEventListener('abort', () => losses.push(['job', signal.reason]))),
    );
    await queue.enqueue('old');
    const numbers = await ours.sequence('n').next();
    const taken = await ours.budget('b', { limit: 5 }).tryTake(1);
    ours.counter('c').add(2);
    await ours.counter('c').flush();
    ours.counter('c').add(1);
    return { losses, held, term, numbers, taken };
}

for (const newLockManager of [false, true]) {
    const variant = newLockManager ? 'new documents get another lock manager' : 'all share one lock manager';

    test(`when site data is cleared and ${variant}, everything is lost at once, and each part reports it`, async () => {
        const origin = await createOrigin({ seed: 1 });
        const first = origin.openTab();
        const a = await open({ window: first.window });
        const before = await work(a);
        const second = origin.openTab();
        const b = await open({ window: second.window });
        const [warnings, losses] = [details(a, 'warning'), details(a, 'storelost')];
        /** @type {any[]} */
        const capabilities = [];
        a.addEventListener('capabilitieschange', ({ detail }) => capabilities.push(detail));
        const waiting = b.lock('own').acquire();
        waiting.catch(() => {});
        await sleep(second, 100);
        origin.clearSiteData({ newLockManager });
        await sleep(second, 3_000);

        assert.deepEqual(before.losses.map(([what]) => what).sort(), ['job', 'lock', 'permit', 'term']);
        for (const [what, reason] of before.losses) assert.ok(cleared(reason), `${what}: ${reason}`);
        assert.equal(before.term.leads, false);
        await assert.rejects(
            before.held.commit('s', () => {}),
            cleared,
        );
        assert.ok(losses.length > 0);

        const third = origin.openTab();
        const c = await open({ window: third.window });
        const cutOff = failsWith('unavailable');
        if (newLockManager) {
            // It is refused, or it was granted when the first tab noticed the clearing, and lost by the second one.
            const late = await waiting.catch((/** @type {any} */ error) => error);
            assert.ok(late.code === 'unavailable' || late.signal.aborted);
            for (const old of [a, b]) {
                await assert.rejects(
                    old.lock('own').run(() => {}),
                    cutOff,
                );
                await assert.rejects(
                    old.leader('l').run(() => {}),
                    cutOff,
                );
                await assert.rejects(old.leader('l').call('x'), cutOff);
                await assert.rejects(
                    old.once('o', () => 1),
                    cutOff,
                );
                await assert.rejects(old.sequence('n').next(), cutOff);
                await assert.rejects(old.budget('b', { limit: 5 }).tryTake(1), cutOff);
                await assert.rejects(old.rateLimit('r', { limit: 1, interval: 10 }).tryTake(), cutOff);
                await assert.rejects(old.counter('k', { strategy: 'locked' }).add(1), cutOff);
                assert.equal(old.capabilities.exclusion, 'none');
            }
            assert.deepEqual(
                warnings.map(({ code }) => code),
                ['lock-manager-replaced'],
            );
            assert.equal(capabilities.at(-1)?.exclusion, 'none');
        } else {
            const held = await waiting;
            held.release();
            await a.lock('own').run(() => {});
            assert.deepEqual([a.capabilities.exclusion, warnings.length], ['web-locks', 0]);
        }
        assert.equal(c.capabilities.exclusion, 'web-locks');
        await c.lock('own').run(() => {});
        assert.equal(await c.leader('l').run(() => 'leads'), 'leads');
        assert.deepEqual([first, second].map(frames), [0, 0]);

        const total = await c.counter('c').read();
        assert.equal(total, 3);
        a.counter('c').add(10);
        b.counter('c').add(100);
        c.counter('c').add(1_000);
        await Promise.all([a, b, c].map((tab) => tab.counter('c').flush()));
        assert.equal(await c.counter('c').read(), 1_113);
        origin.close();
    });

    test(`after a clearing in which ${variant}, each job runs once, numbers are distinct, and a budget is kept`, async () => {
        const origin = await createOrigin({ seed: 2 });
        const old = [origin.openTab(), origin.openTab()];
        const tabs = await Promise.all(old.map(({ window }) => open({ window })));
        /** @type {string[]} */
        const runs = [];
        const handle = (/** @type {Tab} */ tab, /** @type {EmulatedTab} */ { window }) =>
            tab.queue('q').handle(async ({ payload }) => {
                runs.push(/** @type {string} */ (payload));
                await new Promise((resolve) => window.setTimeout(resolve, 20));
            });
        const numbers = async (/** @type {Tab} */ tab) => {
            const found = [];
            for (let i = 0; i < 5; ++i) found.push(await tab.sequence('n').next());
            return found;
        };
        const rights = async (/** @type {Tab} */ tab) => {
            let taken = 0;
            for (let i = 0; i < 8; ++i) taken += Number(await tab.budget('b', { limit: 5 }).tryTake(1));
            return taken;
        };
        tabs.forEach((tab, i) => handle(tab, /** @type {EmulatedTab} */ (old[i])));
        const given = [];
        let taken = 0;
        for (const tab of tabs) {
            await tab.queue('q').enqueue('before');
            given.push(...(await numbers(tab)));
            taken += Number(await tab.budget('b', { limit: 5 }).tryTake(1));
        }
        origin.clearSiteData({ newLockManager });
        await sleep(/** @type {EmulatedTab} */ (old[0]), 500);
        runs.length = 0;
        const third = origin.openTab();
        const c = await open({ window: third.window });
        handle(c, third);
        const all = [...tabs, c];
        const jobs = all.flatMap((tab, i) => [0, 1, 2, 3].map((n) => [tab, `${i}/${n}`]));
        for (const [tab, job] of /** @type {[Tab, string][]} */ (jobs)) await tab.queue('q').enqueue(job);
        for (const one of await Promise.allSettled(all.map(numbers)))
            if (one.status === 'fulfilled') given.push(...one.value);
        for (const one of await Promise.allSettled(all.map(rights)))
            if (one.status === 'fulfilled') taken += one.value;
        await sleep(third, 5_000);
        assert.deepEqual(runs.sort(), jobs.map(([, job]) => job).sort());
        assert.equal(new Set(given).size, given.length);
        assert.equal(given.length, newLockManager ? 15 : 25);
        assert.equal(taken, 2, 'after the clearing all rights count as used');
        origin.close();
    });
}

test('a tab that counted before, and locks for the first time after the clearing, is cut off', async () => {
    const origin = await createOrigin({ seed: 3 });
    const page = origin.openTab();
    const old = await open({ window: page.window });
    old.counter('c').add(1);
    await old.counter('c').flush();
    origin.clearSiteData({ newLockManager: true });
    const fresh = await open({ window: origin.openTab().window });
    await fresh.lock('l').acquire();
    await old
        .lock('l')
        .acquire({ timeout: 5_000 })
        .then(
            async (held) => {
                await sleep(page, 10); // the probe may end just after the grant
                assert.equal(held.signal.aborted, true);
            },
            (error) => assert.equal(error.code, 'unavailable'),
        );
    await assert.rejects(old.lock('l').acquire(), failsWith('unavailable'));
    origin.close();
});

test('a tab that only counts by the strategies locked and log is cut off from what needs locks, and receives a warning', async () => {
    const origin = await createOrigin({ seed: 3, storage: 'mutexed' });
    const page = origin.openTab();
    const old = await open({ window: page.window });
    const warnings = details(old, 'warning');
    const locked = (/** @type {Tab} */ tab) => tab.counter('k', { strategy: 'locked' });
    const log = (/** @type {Tab} */ tab) => tab.counter('g', { strategy: 'log', foldAfter: 100 });
    await locked(old).add(1);
    await log(old).add(1);
    await sleep(page, 1_000);
    origin.clearSiteData({ newLockManager: true });
    await sleep(page, 5_000);
    assert.deepEqual(
        warnings.map(({ code }) => code),
        ['lock-manager-replaced'],
    );
    const fresh = origin.openTab();
    const tab = await open({ window: fresh.window });
    await locked(tab).add(10);
    for (let i = 0; i < 3; ++i) await log(tab).add(1);
    await assert.rejects(locked(old).add(1), failsWith('unavailable'));
    await log(old).add(10);
    await sleep(page, 5_000);
    // An elected tab folds what dead tabs have added. To a tab that is cut off, all new ones look dead.
    const { localStorage } = fresh.window;
    const keys = Array.from({ length: localStorage.length }, (_, at) => String(localStorage.key(at)));
    assert.deepEqual(
        keys.filter((key) => key.includes('/fold/')),
        [],
    );
    assert.deepEqual([await locked(tab).read(), await log(tab).read()], [10, 13]);
    origin.close();
});

/**
 * Makes the frames of a page leave a request for a lock without an answer.
 *
 * @param {any} window
 * @param {() => boolean} isSilent whether a frame does so when it is asked
 */
function silenceFrames({ document }, isSilent) {
    const create = document.createElement.bind(document);
    document.createElement = (/** @type {string} */ name) => {
        const frame = create(name);
        if (isSilent())
            Object.defineProperty(frame, 'contentWindow', {
                value: { navigator: { locks: { request: () => new Promise(() => {}) } } },
            });
        return frame;
    };
}

for (const suspended of [false, true])
    test(`a tab whose frames ${suspended ? 'answer after a suspension is not' : 'never answer is'} cut off`, async () => {
        const origin = await createOrigin({ seed: 4 });
        const [page, other] = [origin.openTab(), origin.openTab()];
        const old = await open({ window: page.window });
        await old.lock('l').run(() => {});
        let asked = 0;
        silenceFrames(page.window, () => {
            ++asked;
            if (suspended && asked < 4) page.suspend();
            return !suspended || asked < 4;
        });
        origin.clearSiteData({ newLockManager: !suspended });
        for (let i = 0; i < 4; i++) {
            await sleep(other, 10_000);
            page.wake();
        }
        await sleep(other, 5_000);
        if (suspended) await old.lock('l').run(() => {});
        else await assert.rejects(old.lock('l').acquire(), failsWith('unavailable'));
        assert.equal(asked, suspended ? 4 : 2);
        assert.equal(frames(page), 0);
        origin.close();
    });

test('a tab that first locks while it finds out whether it is cut off is granted no lock', async () => {
    const origin = await createOrigin({ seed: 5 });
    const page = origin.openTab();
    const old = await open({ window: page.window });
    await old.sequence('n').next();
    let asked = 0;
    silenceFrames(page.window, () => ++asked > 0);
    origin.clearSiteData({ newLockManager: true });
    await sleep(page, 1_000);
    assert.equal(asked, 1);
    await assert.rejects(old.lock('l').acquire(), failsWith('unavailable'));
    origin.close();
});

test('explore() clears site data with a new lock manager by seed, and no two tabs lead for good', async () => {
    const report = await explore(
        async (tab) => {
            const ours = await open({ window: tab.window });
            let leads = false;
            const lead = ours.leader('l').run(async ({ signal }) => {
                leads = true;
                signal.addEventListener('abort', () => (leads = false));
                await new Promise(() => {});
            });
            lead.catch(() => {});
            await sleep(tab, 20_000);
            return () => leads;
        },
        {
            seeds: 12,
            exhaust: 0,
            tabs: 3,
            faults: ['replace-lock-manager'],
            invariant: ({ results }) =>
                results.filter((leads) => typeof leads === 'function' && leads()).length <= 1,
        },
    );
    assert.equal(report.failure, '');
    assert.ok((report.faults['replace-lock-manager'] ?? 0) > 0);
});

/** @param {EmulatedTab} tab @returns {number} how many frames its document has */
const frames = ({ window }) => window.frames.length;
