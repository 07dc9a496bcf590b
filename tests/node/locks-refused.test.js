/** Locks in a browser that refuses what they need: the store, `navigator.locks`, its `query()`, or an answer. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from 'tabacus';
import { createOrigin, explore } from 'tabacus/emulator';
import { details } from './page-waits.js';
import { tabs } from './open-tabs.js';
import { failsWith, isDom } from './expected-errors.js';

/** @typedef {import('tabacus/emulator').Tab} EmulatedTab */

/** @param {EmulatedTab} tab @param {number} delay_ms of virtual time */
const sleep = (tab, delay_ms) => new Promise((resolve) => tab.window.setTimeout(resolve, delay_ms));

const refusals = {
    forbidden: (/** @type {EmulatedTab} */ tab) => tab.denyQuery(),
    missing: (/** @type {EmulatedTab} */ { window }) =>
        Object.defineProperty(window.LockManager.prototype, 'query', { value: undefined }),
};

for (const [name, refuse] of Object.entries(refusals)) {
    test(`where navigator.locks.query() is ${name}, locks, leaders and limits do their work, and close() ends`, async () => {
        const origin = await createOrigin({ seed: 1 });
        const both = [origin.openTab(), origin.openTab()];
        both.forEach(refuse);
        const [a, b] = /** @type {import('tabacus').Tab[]} */ (
            await Promise.all(both.map(({ window }) => open({ window })))
        );
        if (!a || !b) throw new Error('no tab');
        for (const mode of /** @type {const} */ (['exclusive', 'shared'])) {
            assert.equal(await b.lock('l').isLocked(), false);
            await b.lock('l').waitForUnlock();
            const held = await a.lock('l').acquire({ mode, label: 'a' });
            assert.equal(await b.lock('l').isLocked(), true);
            assert.deepEqual(
                (await b.lock('l').query()).map((request) => [request.state, request.mode, request.label]),
                [['held', mode, 'a']],
            );
            await assert.rejects(b.lock('l').waitForUnlock({ timeout: 10 }), isDom('TimeoutError'));
            await assert.rejects(
                b.lock('l').run(() => {}, { timeout: 10 }),
                isDom('TimeoutError'),
            );
            const unlocked = b.lock('l').waitForUnlock();
            held.release();
            await unlocked;
        }
        const term = await a.leader('e').lead({ label: 'leads' });
        assert.equal((await b.leader('e').current())?.label, 'leads');
        term.handOver();
        assert.deepEqual([await a.sequence('s').next(), await b.sequence('s').next()], [1, 1001]);
        assert.equal(await a.budget('b', { limit: 2 }).tryTake(2), true);
        assert.equal(await b.budget('b', { limit: 2 }).tryTake(1), false);
        await Promise.all([a.close(), b.close()]);
        origin.close();
    });
}

test('explore() forbids query() and refuses locks by seed', async () => {
    for (const fault of /** @type {const} */ (['deny-query', 'refuse-locks'])) {
        const report = await explore(
            async ({ window }) => {
                await window.navigator.locks.request('l', () => {});
                await window.navigator.locks.query();
            },
            { seeds: 20, exhaust: 0, tabs: 1, faults: [fault] },
        );
        assert.match(report.failure, /SecurityError|denied/, fault);
        assert.ok((report.faults[fault] ?? 0) > 0, fault);
    }
});

test('a lock that prefers a fence is granted without a token while the store is broken, with a warning', async () => {
    const origin = await createOrigin({ seed: 1 });
    const [first, second] = [origin.openTab(), origin.openTab()];
    let broken = true;
    for (const { window } of [first, second]) {
        const { prototype } = window.IDBTransaction;
        const { commit } = prototype;
        prototype.commit = function () {
            return broken ? this.abort() : Reflect.apply(commit, this, []);
        };
    }
    const [a, b] = [await open({ window: first.window }), await open({ window: second.window })];
    const warnings = details(a, 'warning');
    await assert.rejects(
        a.lock('l').run(() => {}),
        (/** @type {any} */ { code }) => code === 'store-failed' || code === 'unknown-commit',
    );
    /** @type {string[]} */
    const order = [];
    const use = (/** @type {string} */ name) => async (/** @type {import('tabacus').Held} */ held) => {
        assert.deepEqual([held.token, held.mode, held.held], [null, 'exclusive', true]);
        await assert.rejects(
            held.commit('s', () => {}),
            failsWith('unavailable'),
        );
        order.push(`${name} begins`);
        await sleep(first, 5);
        order.push(`${name} ends`);
    };
    await Promise.all([
        a.lock('l').run(use('a'), { fence: 'preferred' }),
        b.lock('l').run(use('b'), { fence: 'preferred' }),
    ]);
    for (const index of [0, 2]) assert.equal(order[index]?.[0], order[index + 1]?.[0]);
    const [warning] = warnings.filter(({ code }) => code === 'unfenced-lock');
    assert.equal(warning.subject, 'l');
    broken = false;
    await sleep(first, 1_100); // for a second after a failure the database is not asked
    assert.equal(await a.lock('l').run((held) => typeof held.token, { fence: 'preferred' }), 'number');
    await Promise.all([a.close(), b.close()]);
    origin.close();
});

test('a lock that prefers a fence needs no database, a steal needs a fence, and other values are refused', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2, { indexedDB: undefined });
    await assert.rejects(
        a.lock('l').run(() => {}),
        failsWith('weaker-guarantee'),
    );
    const held = await a.lock('l').acquire({ fence: 'preferred' });
    assert.equal(held.token, null);
    assert.equal(await b.lock('l').run((one) => one, { fence: 'preferred', ifAvailable: true }), null);
    held.release();
    await a.lockAll(['l', 'm'], (all) => assert.equal(all.length, 2), { fence: 'preferred' });
    await assert.rejects(
        a.lock('l').run(() => {}, { fence: 'preferred', steal: true }),
        isDom('NotSupportedError'),
    );
    for (const call of [
        () => a.lock('l').run(() => {}, /** @type {any} */ ({ fence: 'none' })),
        () => a.leader('l').run(() => {}, /** @type {any} */ ({ fence: 'preferred' })),
        () => a.semaphore('l', 1).run(() => {}, /** @type {any} */ ({ fence: 'preferred' })),
    ])
        await assert.rejects(call, failsWith('invalid-argument'));
    await close();
});

for (const url of ['https://app.test/', 'http://plain.test/']) {
    test(`a prerendered page of ${url} is granted nothing before it is shown, and its calls end in time`, async () => {
        const origin = await createOrigin({ url, seed: 1 });
        const hidden = origin.openTab();
        const page = hidden.window.document;
        Object.defineProperty(page, 'prerendering', { value: true, configurable: true });
        const tab = await open({ window: hidden.window });
        const { performance } = hidden.window;
        const began = performance.now();
        const options = { timeout: 1_000 };
        const never = () => assert.fail('the page is not shown');
        await Promise.all(
            [
                tab.lock('l').run(never, options),
                tab.lockAll(['l', 'm'], never, options),
                tab.once('o', never, options),
                tab.semaphore('s', 2).run(never, options),
                tab.lock('l').waitForUnlock(options),
            ].map((call) => assert.rejects(call, isDom('TimeoutError'))),
        );
        assert.equal(await tab.lock('l').run((held) => held, { ifAvailable: true }), null);
        assert.equal(await tab.semaphore('s', 2).acquire({ ifAvailable: true }), null);
        if (url.startsWith('https')) await assert.rejects(tab.lock('l').isLocked(), failsWith('unavailable'));
        else assert.equal(await tab.lock('l').isLocked(), false);
        assert.ok(performance.now() - began < 2_000, `${performance.now() - began} ms`);

        /** @type {string[]} */
        const done = [];
        const granted = tab.leader('e').run(() => done.push('leads'));
        tab.queue('q').handle(() => void done.push('works'));
        const { result } = await tab.queue('q').enqueue(1);
        const other = await open({ window: origin.openTab().window });
        await other.leader('e').run(() => done.push('another leads'));
        await sleep(hidden, 100_000);
        assert.deepEqual(done, ['another leads']);

        Object.defineProperty(page, 'prerendering', { value: false });
        page.dispatchEvent(new Event('prerenderingchange'));
        await Promise.all([granted, result, tab.lock('l').waitForUnlock()]);
        assert.deepEqual(done.sort(), ['another leads', 'leads', 'works']);
        await Promise.all([tab.close(), other.close()]);
        origin.close();
    });
}

test('a request that waits for 10 s warns once, with the holder, its label and its age', async () => {
    const origin = await createOrigin({ seed: 1 });
    const first = origin.openTab();
    const a = await open({ window: first.window });
    const b = await open({ window: origin.openTab().window });
    const silent = await open({ window: origin.openTab().window, timeouts: { slowLock: Infinity } });
    const quick = await open({ window: origin.openTab().window, timeouts: { slowLock: 200 } });
    const [own, none, early] = [details(b, 'warning'), details(silent, 'warning'), details(quick, 'warning')];
    const held = await a.lock('cart').acquire({ label: 'checkout' });
    const permit = await a.semaphore('s', 1).acquire();
    const term = await a.leader('e').lead();
    await sleep(first, 5_000);
    const waiting = [b, silent, quick].flatMap((tab) => [
        tab.lock('cart').run(() => {}),
        tab.semaphore('s', 1).run(() => {}),
        tab.leader('e').run(() => {}),
    ]);
    await sleep(first, 2_000);
    assert.equal(own.length, 0);
    await sleep(first, 60_000);
    assert.deepEqual(own.map(({ code, subject }) => [code, subject]).sort(), [
        ['slow-lock', 'cart'],
        ['slow-lock', 's'],
    ]);
    const message = own.find(({ subject }) => subject === 'cart')?.message;
    assert.match(
        message,
        /the lock "cart" has waited for 10 s: the tab \S+ \("checkout"\) has held it for 15 s/,
    );
    assert.deepEqual([none.length, early.length], [0, 2]);
    held.release();
    permit.release();
    term.handOver();
    await Promise.all(waiting);
    await Promise.all([a, b, silent, quick].map((tab) => tab.close()));
    for (const bad of [0, '5', -1])
        await assert.rejects(
            open({ timeouts: /** @type {any} */ ({ slowLock: bad }) }),
            failsWith('invalid-argument'),
        );
    origin.close();
});
