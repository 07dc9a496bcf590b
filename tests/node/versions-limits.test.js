/** Sequences, budgets and rate limits of tabs of an earlier version and of the present one in one browser. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { besideEachVersion } from './both-versions.js';

/** @typedef {import('tabacus').Tab} Tab */

besideEachVersion(({ underSeeds, inBothRoles }) => {
    it(
        'sequences give no number twice, and a gapless one leaves none out',
        underSeeds(async ({ tabs }) => {
            const [blocks, gapless] = await Promise.all(
                [{ block: 3 }, { gapless: true }].map((options) =>
                    Promise.all(
                        [...tabs, ...tabs, ...tabs, ...tabs].map((tab) =>
                            tab.sequence(JSON.stringify(options), options).next(),
                        ),
                    ),
                ),
            );
            assert.equal(new Set(blocks).size, 16);
            assert.deepEqual(
                gapless?.sort((a, b) => a - b),
                Array.from({ length: 16 }, (_, at) => at + 1),
            );
        }),
    );

    it(
        'a budget is spent completely, and not beyond its limit',
        underSeeds(async ({ tabs }) => {
            let taken = 0;
            const takeAll = async (/** @type {Tab} */ tab) => {
                while (await tab.budget('b', { limit: 60 }).tryTake()) ++taken;
            };
            await Promise.all(tabs.map(takeAll));
            assert.equal(taken, 60);
            await tabs[0].budget('b', { limit: 60 }).give(2);
            await takeAll(tabs[1]);
            await tabs[1].budget('b', { limit: 60 }).give(1);
            await takeAll(tabs[2]);
            assert.equal(taken, 63);
        }),
    );

    it(
        'a tab that runs short of a budget receives rights that a tab of the other version holds in reserve',
        inBothRoles(async ({ tabs: [first, second] }) => {
            const budget = (/** @type {Tab} */ tab) => tab.budget('b', { limit: 100 });
            let taken = 0;
            await second.sequence('other').next(); // this loads the modules of limits
            // From the 17th take of a burst on, a tab takes more rights out of the budget than it spends.
            while (taken < 40 && (await budget(first).tryTake())) ++taken;
            assert.equal(taken, 40);
            assert.equal(await budget(second).tryTake(60), true);
            assert.equal(await budget(first).tryTake(), false);
        }),
    );

    it(
        'tabs of both versions together keep a rate limit',
        underSeeds(async ({ tabs, pages }) => {
            const rate = (/** @type {Tab} */ tab) => tab.rateLimit('r', { limit: 3, interval: 1000 });
            /** @type {number[]} */
            const at_ms = [];
            await Promise.all(
                [...tabs, ...tabs, ...tabs].map(async (tab) => {
                    await rate(tab).take();
                    at_ms.push(pages[3]?.window.performance.now());
                }),
            );
            assert.equal(at_ms.length, 12);
            for (let at = 3; at < 12; ++at)
                assert.ok(Number(at_ms[at]) - Number(at_ms[at - 3]) >= 1000, `${at_ms}`);
        }),
    );

    it(
        'a rate limit takes the time from a tab of the other version, and not from the wall clock',
        inBothRoles(async ({ tabs: [first, second], origin, pages }) => {
            const rate = (/** @type {Tab} */ tab) => tab.rateLimit('r', { limit: 1, interval: 60_000 });
            await rate(first).take();
            origin.setClock(pages[0]?.window.Date.now() + 86_400_000);
            assert.equal(await rate(second).tryTake(), false);
        }),
    );
});
