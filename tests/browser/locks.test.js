/** Locks in real tabs exclude under contention, and their state is reported. */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { describeIn, ENGINES } from './harness/engines.js';
import { closeAll, useBrowser } from './harness/fixture.js';
import { openLocks, take, whenQueued } from './harness/locks.js';

/** @typedef {import('./harness/tab.js').Tab} Tab */

describeIn([ENGINES.chromium, ENGINES.firefox, ENGINES.webkit], 'Locks over tabs', (engine) => {
    const browser = useBrowser(engine);

    /**
     * @param {string} namespace
     * @param {{ withoutLocks?: boolean }} [options]
     */
    const open = (namespace, options) => openLocks(browser, namespace, options);

    /**
     * @param {Tab} tab
     * @param {number} times
     */
    const count = (tab, times) =>
        tab.evaluate(async (rounds) => {
            const { tab: locks } = /** @type {any} */ (globalThis);
            /** @type {number[]} */
            const tokens = [];
            for (let i = 0; i < rounds; i++) {
                await locks.lock('l').run(async (/** @type {any} */ held) => {
                    await held.commit('counts', async (/** @type {any} */ tx) => {
                        tx.put('counts', 'n', ((await tx.get('counts', 'n')) ?? 0) + 1);
                    });
                    tokens.push(held.token);
                });
            }
            return tokens;
        }, times);

    /** @param {Tab} tab */
    const total = (tab) =>
        tab.evaluate(() =>
            /** @type {any} */ (globalThis).tab
                .lock('l')
                .run((/** @type {any} */ held) =>
                    held.commit('counts', (/** @type {any} */ tx) => tx.get('counts', 'n')),
                ),
        );

    for (const withoutLocks of [false, true]) {
        const also = withoutLocks ? ', without Web Locks' : '';

        it(`4 tabs that count under the lock lose nothing${also}`, async () => {
            const namespace = browser.namespace();
            const tabs = await Promise.all([0, 1, 2, 3].map(() => open(namespace, { withoutLocks })));
            /** @type {Set<number>} */
            const tokens = new Set();
            for (let hundred = 0; hundred < 5; hundred++) {
                for (const some of await Promise.all(tabs.map((tab) => count(tab, 100))))
                    some.forEach((token) => tokens.add(token));
            }
            assert.equal(tokens.size, 2_000);
            assert.equal(await total(/** @type {Tab} */ (tabs[0])), 2_000);
            await closeAll(tabs);
        });

        it(`a tab whose clock is set a year forward and back loses nothing under the lock${also}`, async () => {
            const namespace = browser.namespace();
            const tabs = await Promise.all([0, 1].map(() => open(namespace, { withoutLocks })));
            const year_ms = 365 * 86_400_000;
            /** @type {number[]} */
            const tokens = [];
            for (const skew_ms of [year_ms, -year_ms, 0]) {
                await /** @type {Tab} */ (tabs[1]).evaluate((offset_ms) => {
                    const page = /** @type {any} */ (globalThis);
                    page.realNow ??= Date.now;
                    Date.now = () => page.realNow() + offset_ms;
                }, skew_ms);
                const round = (await Promise.all(tabs.map((tab) => count(tab, 50)))).flat();
                assert.ok(Math.min(...round) > Math.max(0, ...tokens));
                tokens.push(...round);
            }
            assert.equal(new Set(tokens).size, 300);
            assert.equal(await total(/** @type {Tab} */ (tabs[0])), 300);
            await closeAll(/** @type {Tab[]} */ (tabs));
        });
    }

    it('a reader behind a writer that gives up is granted the lock', async () => {
        const namespace = browser.namespace();
        const [a, b, c] = await Promise.all([0, 1, 2].map(() => open(namespace)));
        await take(/** @type {Tab} */ (a), 'reader', { mode: 'shared' });
        const writer = assert.rejects(
            take(/** @type {Tab} */ (b), 'writer', { timeout: 300 }),
            /TimeoutError/,
        );
        const reader = /** @type {Tab} */ (c).evaluate(async () => {
            const page = /** @type {any} */ (globalThis);
            // The reader requests the lock after the writer has begun to wait.
            while ((await page.tab.lock('l').query()).length < 2)
                await new Promise((next) => setTimeout(next, 5));
            page.held.late = await page.tab.lock('l').acquire({ mode: 'shared' });
            return page.held.late.held;
        });
        await writer;
        assert.equal(await reader, true);
        await closeAll(/** @type {Tab[]} */ ([a, b, c]));
    });

    for (const mode of ['shared', 'exclusive']) {
        it(`a tab that used the lock before does not hide a tab that holds it ${mode} or waits`, async () => {
            const namespace = browser.namespace();
            const tabs = await Promise.all([0, 1, 2, 3].map(() => open(namespace)));
            const [holder, waiter, , asking] = /** @type {Tab[]} */ (tabs);
            for (const tab of tabs) {
                await tab.evaluate(() => /** @type {any} */ (globalThis).tab.lock('l').run(() => true));
            }
            await take(/** @type {Tab} */ (holder), 'it', { mode });
            /** How many of 20 answers differ from the expected one. @param {string} expected */
            const others = (expected) =>
                /** @type {Tab} */ (asking).evaluate(async (states) => {
                    const lock = /** @type {any} */ (globalThis).tab.lock('l');
                    let count = 0;
                    for (let i = 0; i < 20; i++) {
                        const all = (await lock.query()).map((/** @type {any} */ one) => one.state);
                        if (all.join(' ') !== states || !(await lock.isLocked())) count++;
                    }
                    return count;
                }, expected);
            await whenQueued(/** @type {Tab} */ (holder), 1);
            // A busy machine may answer too late in some cases.
            assert.ok((await others('held')) < 4);
            const given = take(/** @type {Tab} */ (waiter), 'next');
            await whenQueued(/** @type {Tab} */ (holder), 2);
            assert.ok((await others('held waiting')) < 4);
            await /** @type {Tab} */ (holder).evaluate(() =>
                /** @type {any} */ (globalThis).held.it.release(),
            );
            await given;
            await closeAll(tabs);
        });
    }

    it('a previous holder is notified, and its writes are refused', async () => {
        const namespace = browser.namespace();
        const [previous, stealer] = /** @type {[Tab, Tab]} */ (
            await Promise.all([0, 1].map(() => open(namespace)))
        );
        const token = await take(previous, 'it');
        assert.ok(Number(await take(stealer, 'it', { steal: true })) > Number(token));
        const seen = await previous.evaluate(async () => {
            const { it: held } = /** @type {any} */ (globalThis).held;
            if (!held.signal.aborted)
                await new Promise((resolve) => held.signal.addEventListener('abort', resolve));
            return held.commit('counts', () => {}).catch((/** @type {any} */ error) => error.code);
        });
        assert.equal(seen, 'lock-lost');
        await closeAll([previous, stealer]);
    });
});
