/** Locks in real tabs: exact under contention, and free again whatever becomes of a holder. */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { describeIn, ENGINES } from './harness/engines.js';
import { closeAll, useBrowser } from './harness/fixture.js';

/** @typedef {import('./harness/tab.js').Tab} Tab */
/** @typedef {import('./harness/chromium.js').ChromiumTab} ChromiumTab */

/** After a tab's death: the 99th percentile that is promised, and room for a busy machine. */
const handOverMs = 2_000;

describeIn([ENGINES.chromium, ENGINES.firefox, ENGINES.webkit], 'Locks over tabs', (engine) => {
    const browser = useBrowser(engine);

    /**
     * @param {string} namespace
     * @param {{ withoutLocks?: boolean }} [options]
     */
    const openLocks = async (namespace, options = {}) => {
        const tab = await browser.openTab();
        await tab.evaluate(
            async (name, more) => {
                const { open } = await import(/** @type {any} */ ('/dist/web/tabacus.js'));
                const page = /** @type {any} */ (globalThis);
                if (more.withoutLocks) Object.defineProperty(navigator, 'locks', { value: undefined });
                page.tab = await open({ namespace: name, build: 'single' });
                page.held = {};
            },
            namespace,
            options,
        );
        return tab;
    };

    /**
     * Takes the lock `l` and keeps it as `held[as]`.
     *
     * @param {Tab} tab
     * @param {string} as
     * @param {object} [options]
     */
    const take = (tab, as, options = {}) =>
        tab.evaluate(
            async (key, asked) => {
                const page = /** @type {any} */ (globalThis);
                page.held[key] = await page.tab.lock('l').acquire(asked);
                return page.held[key].token;
            },
            as,
            options,
        );

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
        it(`4 tabs count under the lock, exactly${withoutLocks ? ', without Web Locks' : ''}`, async () => {
            const namespace = browser.namespace();
            const rounds = withoutLocks ? 50 : 500;
            const tabs = await Promise.all([0, 1, 2, 3].map(() => openLocks(namespace, { withoutLocks })));
            const tokens = (await Promise.all(tabs.map((tab) => count(tab, rounds)))).flat();
            assert.equal(new Set(tokens).size, 4 * rounds);
            assert.equal(await total(/** @type {Tab} */ (tabs[0])), 4 * rounds);
            await closeAll(tabs);
        });
    }

    it('a writer that gives up strands no reader behind it', async () => {
        const namespace = browser.namespace();
        const [a, b, c] = await Promise.all([0, 1, 2].map(() => openLocks(namespace)));
        await take(/** @type {Tab} */ (a), 'reader', { mode: 'shared' });
        const writer = assert.rejects(take(/** @type {Tab} */ (b), 'writer', { timeout: 300 }), /TimeoutError/);
        const reader = /** @type {Tab} */ (c).evaluate(async () => {
            const page = /** @type {any} */ (globalThis);
            // Behind the writer, which waits by then.
            while ((await page.tab.lock('l').query()).length < 2) await new Promise((next) => setTimeout(next, 5));
            page.held.late = await page.tab.lock('l').acquire({ mode: 'shared' });
            return page.held.late.held;
        });
        await writer;
        assert.equal(await reader, true);
        await closeAll(/** @type {Tab[]} */ ([a, b, c]));
    });

    it('a robbed holder is told, and its writes are refused', async () => {
        const namespace = browser.namespace();
        const [victim, thief] = /** @type {[Tab, Tab]} */ (
            await Promise.all([0, 1].map(() => openLocks(namespace)))
        );
        const token = await take(victim, 'it');
        assert.ok(Number(await take(thief, 'it', { steal: true })) > Number(token));
        const seen = await victim.evaluate(async () => {
            const { it: held } = /** @type {any} */ (globalThis).held;
            if (!held.signal.aborted) await new Promise((told) => held.signal.addEventListener('abort', told));
            return held.commit('counts', () => {}).catch((/** @type {any} */ error) => error.code);
        });
        assert.equal(seen, 'lock-lost');
        await closeAll([victim, thief]);
    });

    // WebKit cannot be driven beyond a tab's death.
    if (engine === ENGINES.webkit) return;
    it('holders that are killed hand over at once', async () => {
        const namespace = browser.namespace();
        const waiter = await openLocks(namespace);
        const times = [];
        for (let death = 0; death < 5; death++) {
            const victim = await openLocks(namespace);
            const last = Number(await take(victim, 'it'));
            const next = take(waiter, 'it');
            // It waits in the queue.
            await waiter.evaluate(async () => {
                const { tab } = /** @type {any} */ (globalThis);
                while ((await tab.lock('l').query()).length < 2) await new Promise((turn) => setTimeout(turn, 5));
            });
            const before = performance.now();
            await victim.kill();
            assert.ok(Number(await next) > last);
            times.push(performance.now() - before);
            await waiter.evaluate(() => /** @type {any} */ (globalThis).held.it.release());
        }
        assert.ok(Math.max(...times) < handOverMs, `${times.map(Math.round).join(', ')} ms`);
        await waiter.close();
    });
});

describeIn([ENGINES.chromium], 'Locks of frozen and cached pages', (engine) => {
    const browser = useBrowser(engine);

    it('a frozen holder lets the others in, and once thawed can write nothing', async () => {
        const namespace = browser.namespace();
        const setUp = async () => {
            const tab = await browser.openTab();
            await tab.evaluate(async (name) => {
                const { open } = await import(/** @type {any} */ ('/dist/web/tabacus.js'));
                const page = /** @type {any} */ (globalThis);
                page.tab = await open({ namespace: name, build: 'single' });
            }, namespace);
            return tab;
        };
        const [holder, other] = /** @type {[ChromiumTab, Tab]} */ (await Promise.all([setUp(), setUp()]));
        await holder.evaluate(async () => {
            const page = /** @type {any} */ (globalThis);
            page.held = await page.tab.lock('l').acquire({ maxHold: 2_000 });
        });
        await holder.send('Page.setWebLifecycleState', { state: 'frozen' });
        await other.evaluate(() =>
            /** @type {any} */ (globalThis).tab
                .lock('l')
                .run((/** @type {any} */ held) => held.commit('s', (/** @type {any} */ tx) => tx.put('s', 'k', 'other'))),
        );
        await holder.send('Page.setWebLifecycleState', { state: 'active' });
        const refused = await holder.evaluate(async () => {
            const { held } = /** @type {any} */ (globalThis);
            let count = 0;
            for (let i = 0; i < 1000; i++) {
                await held
                    .commit('s', (/** @type {any} */ tx) => tx.put('s', 'k', 'late'))
                    .catch((/** @type {any} */ error) => (count += error.code === 'lock-lost' || error.code === 'fenced' ? 1 : 0));
            }
            return count;
        });
        assert.equal(refused, 1000);
        await closeAll([holder, other]);
    });
});
