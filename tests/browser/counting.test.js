/** Several tabs, each in a process of its own, count at once, and the totals are exact. */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { STRATEGIES } from '../../js/common/strategies.js';
import { call } from './harness/commands.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { closeAll, useBrowser } from './harness/fixture.js';
import { assertCounter } from './harness/jepsen-counter.js';
import { until } from './harness/waiting.js';

/** @typedef {import('./harness/tab.js').Tab} Tab */
/** @typedef {import('tabacus').CounterOptions} CounterOptions */

/** The load of each strategy. The slower ones need a transaction or a lock for each add, so they have less. */
const LOAD = { replicated: { batches: 40, adds: 50 }, stored: { batches: 10, adds: 10 } };

describeIn(Object.values(ENGINES), 'Several tabs counting at once', (engine) => {
    const browser = useBrowser(engine);

    /** @param {string} namespace */
    const openAll = async (namespace) => {
        /** @type {Tab[]} */
        const tabs = [];
        for (let i = 0; i < engine.tabs; i++) tabs.push(await browser.openIn({ namespace }));
        return tabs;
    };

    /**
     * @param {Tab[]} tabs
     * @param {string} name
     * @param {{ batches: number, adds: number, least?: number, most?: number }} load
     * @param {CounterOptions} [options]
     */
    const workAll = (tabs, name, load, options) =>
        Promise.all(tabs.map((tab, seed) => call(tab, 'work', { name, options, seed, ...load })));

    for (const durability of /** @type {const} */ (['relaxed', 'strict'])) {
        it(`replicated, ${durability}: the total is exact in every tab and in a late one`, async () => {
            const namespace = browser.namespace();
            const name = `replicated-${durability}`;
            const tabs = await openAll(namespace);
            await workAll(tabs, name, { ...LOAD.replicated, least: -3, most: 5 }, { durability });
            for (const tab of tabs) await call(tab, 'read', name, { durability });
            const late = await browser.openIn({ namespace });
            await call(late, 'read', name);
            const { attempted, acknowledged, reads } = assertCounter(browser.site.history.of(name));
            assert.equal(acknowledged, attempted);
            assert.ok(reads.length >= tabs.length + 1);
            assert.notEqual(attempted, 0);
            for (const tab of [...tabs, late]) await call(tab, 'converged', name, attempted);
            await closeAll([...tabs, late]);
        });
    }

    it('replicated: all tabs agree by news alone, without a read', async () => {
        const tabs = await openAll(browser.namespace());
        for (const tab of tabs) await call(tab, 'value', 'news');
        await Promise.all(tabs.map((tab, i) => call(tab, 'add', 'news', 10 ** i)));
        const total = tabs.reduce((sum, _, i) => sum + 10 ** i, 0);
        for (const tab of tabs) await call(tab, 'converged', 'news', total);
        await closeAll(tabs);
    });

    it('replicated: there is one row for each tab, however often tabs are opened and closed', async () => {
        const namespace = browser.namespace();
        for (let round = 1; round <= 3; round++) {
            const tabs = await openAll(namespace);
            await workAll(tabs, 'rounds', { batches: 2, adds: 5 });
            for (const tab of tabs) await call(tab, 'close');
            await closeAll(tabs);
        }
        const last = await browser.openIn({ namespace });
        assert.equal(await call(last, 'read', 'rounds'), 3 * engine.tabs * 10);
        const rows = await call(last, 'rows', namespace, 'rounds');
        assert.ok(rows.length > 0 && rows.length <= engine.tabs, `rows: ${rows}`);
        await last.close();
    });

    it('transactional: the total is exact', async () => {
        const options = /** @type {const} */ ({ strategy: 'transactional' });
        const tabs = await openAll(browser.namespace());
        await workAll(tabs, 'transactional', { ...LOAD.stored, least: -3, most: 5 }, options);
        for (const tab of tabs) await call(tab, 'read', 'transactional', options);
        const { attempted, acknowledged } = assertCounter(browser.site.history.of('transactional'));
        assert.equal(acknowledged, attempted);
        await closeAll(tabs);
    });

    for (const strategy of /** @type {const} */ (['naive', 'locked'])) {
        it(`${strategy}: its guarantee has losses, and no increment is counted twice`, async (t) => {
            const tabs = await openAll(browser.namespace());
            await workAll(tabs, strategy, LOAD.stored, { strategy });
            const attempted = engine.tabs * LOAD.stored.batches * LOAD.stored.adds;
            const [tab] = tabs;
            assert.ok(tab);
            const value = await call(tab, 'read', strategy, { strategy });
            t.diagnostic(`${engine.name}, ${strategy}: ${attempted - value} of ${attempted} lost`);
            assert.ok(value > 0 && value <= attempted, `${value} of ${attempted}`);
            const { lost } = await call(tab, 'guarantee', strategy, { strategy });
            assert.notEqual(lost, 'never');
            await closeAll(tabs);
        });
    }
});

describeIn([ENGINES.chromium], 'Every strategy', (engine) => {
    const browser = useBrowser(engine);
    it('every strategy is exact if tabs add one after another', async () => {
        const namespace = browser.namespace();
        const tabs = [await browser.openIn({ namespace }), await browser.openIn({ namespace })];
        for (const strategy of STRATEGIES) {
            const options = strategy === 'deltas' ? { strategy, threshold: 0 } : { strategy };
            let sum = 0;
            for (const n of [1, 2, -1, 5]) {
                for (const tab of tabs) {
                    await call(tab, 'add', strategy, n, options);
                    await call(tab, 'flush', strategy, options);
                    sum += n;
                    // A write to localStorage reaches other processes with a delay.
                    for (const reader of tabs) {
                        const read = async () => (await call(reader, 'read', strategy, options)) === sum;
                        await until(read, `${strategy} at ${sum}`);
                    }
                }
            }
        }
        await closeAll(tabs);
    });
});

describeIn([ENGINES.chromium], 'The naive strategy', (engine) => {
    const browser = useBrowser(engine);
    const TRIES_MAX = 20;

    it('naive counting can lose increments', async (t) => {
        const options = /** @type {const} */ ({ strategy: 'naive' });
        const namespace = browser.namespace();
        const tabs = await Promise.all([browser.openIn({ namespace }), browser.openIn({ namespace })]);
        for (let tries = 1; tries <= TRIES_MAX; tries++) {
            const work = { name: `naive-${tries}`, options, batches: 3, adds: 300, seed: tries };
            await Promise.all(tabs.map((tab) => call(tab, 'work', work)));
            const values = await Promise.all(tabs.map((tab) => call(tab, 'read', work.name, options)));
            const lost = 2 * 900 - Math.max(...values);
            if (lost > 0) return t.diagnostic(`naive lost ${lost} of 1800 in try ${tries}`);
        }
        assert.fail(`naive lost nothing in ${TRIES_MAX} tries`);
    });
});
