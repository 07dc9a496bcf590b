/** Sequences, budgets and rate limits in real tabs: no number twice, no overspent budget, no exceeded window. */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { describeIn, ENGINES } from './harness/engines.js';
import { closeAll, useBrowser } from './harness/fixture.js';

/** @typedef {import('./harness/tab.js').Tab} Tab */

const TABS = 3;

describeIn([ENGINES.chromium, ENGINES.firefox, ENGINES.webkit], 'Limits over tabs', (engine) => {
    const browser = useBrowser(engine);

    /** Opens a tab. @param {string} namespace @param {number} [ahead_ms] the error of its wall clock */
    const openIn = async (namespace, ahead_ms = 0) => {
        const tab = await browser.openTab();
        await tab.evaluate(
            async (/** @type {string} */ name, /** @type {number} */ ahead) => {
                const { open } = await import(/** @type {any} */ ('/dist/web/tabacus.js'));
                const window = new Proxy(globalThis, {
                    get(target, key) {
                        if (key === 'Date') return { now: () => Date.now() + ahead };
                        const value = Reflect.get(target, key, target);
                        return typeof value === 'function' && !('prototype' in value)
                            ? value.bind(target)
                            : value;
                    },
                });
                const page = /** @type {any} */ (globalThis);
                page.tab = await open({ namespace: name, window });
            },
            namespace,
            ahead_ms,
        );
        return tab;
    };
    /** @param {string} namespace */
    const openAll = async (namespace) => {
        const tabs = [];
        for (let i = 0; i < TABS; i++) tabs.push(await openIn(namespace));
        return tabs;
    };
    /**
     * @param {Tab} tab
     * @param {number} limit
     * @param {number} tries
     * @returns {Promise<number>} the number of granted tries
     */
    const take = (tab, limit, tries) =>
        tab.evaluate(
            async (/** @type {number} */ most, /** @type {number} */ times) => {
                const budget = /** @type {any} */ (globalThis).tab.budget('b', { limit: most });
                let taken = 0;
                for (let i = 0; i < times; i++) taken += Number(await budget.tryTake());
                return taken;
            },
            limit,
            tries,
        );

    it('a sequence gives no number twice, and rises in each tab, in blocks and gapless', async () => {
        const tabs = await openAll(browser.namespace());
        for (const [options, count] of /** @type {const} */ ([
            [{ block: 7 }, 60],
            [{ gapless: true }, 25],
        ])) {
            const got = await Promise.all(
                tabs.map((tab) =>
                    tab.evaluate(
                        async (/** @type {any} */ how, /** @type {number} */ times) => {
                            const sequence = /** @type {any} */ (globalThis).tab.sequence(
                                JSON.stringify(how),
                                how,
                            );
                            /** @type {number[]} */
                            const numbers = [];
                            for (let i = 0; i < times; i++) numbers.push(await sequence.next());
                            return numbers;
                        },
                        options,
                        count,
                    ),
                ),
            );
            for (const numbers of got)
                assert.deepEqual(
                    numbers,
                    [...numbers].sort((a, b) => a - b),
                );
            const all = new Set(got.flat());
            assert.equal(all.size, TABS * count);
            if ('gapless' in options) assert.equal(Math.max(...all), TABS * count);
        }
        await closeAll(tabs);
    });

    it('a budget is spent completely and never beyond its limit, and the rights of killed tabs come back', async () => {
        const namespace = browser.namespace();
        const [first, ...others] = await openAll(namespace);
        assert.ok(first && others[0]);
        const limit = 900;
        const taken = await Promise.all([first, ...others].map((tab) => take(tab, limit, 150)));
        assert.deepEqual(taken, [150, 150, 150]);
        await new Promise((resolve) => setTimeout(resolve, 200));
        if (engine === ENGINES.webkit) await first.close();
        else await first.kill();
        const rest = await Promise.all(others.map((tab) => take(tab, limit, 400)));
        assert.equal(
            rest.reduce((sum, one) => sum + one, 0),
            450,
        );
        await closeAll(others);
    });

    it('no window holds more than the limit, also with a clock that is a year ahead or behind', async () => {
        const namespace = browser.namespace();
        const year_ms = 365 * 24 * 3_600_000;
        const first = await openIn(namespace);
        const pass = (/** @type {Tab} */ tab, /** @type {number} */ times) =>
            tab.evaluate(async (/** @type {number} */ count) => {
                const rate = /** @type {any} */ (globalThis).tab.rateLimit('r', { limit: 3, interval: 300 });
                /** @type {number[]} */
                const passed = [];
                for (let i = 0; i < count; i++) {
                    await rate.take();
                    passed.push(performance.timeOrigin + performance.now());
                }
                return passed;
            }, times);
        const before = await pass(first, 3);
        const tabs = [first, await openIn(namespace, year_ms), await openIn(namespace, -year_ms)];
        const at = [...before, ...(await Promise.all(tabs.map((tab) => pass(tab, 4)))).flat()].sort(
            (a, b) => a - b,
        );
        assert.equal(at.length, 15);
        // The clocks of pages differ by a few milliseconds.
        at.slice(3).forEach((when, index) =>
            assert.ok(when - Number(at[index]) > 290, `${when - Number(at[index])} ms`),
        );
        await closeAll(tabs);
    });
});
