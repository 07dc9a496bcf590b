/** Counters of tabs of an earlier version and of the present one: each shared increment counts once. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { open } from 'tabacus';
import { besideEachVersion, namespace, sleep } from './both-versions.js';
import { strategies } from '../versions/fixture-names.js';
import { newOrigin } from '../versions/origins.js';

/** @typedef {import('tabacus').Tab} Tab */

/** The strategies that are exact under concurrent updates (docs/guarantees.md). The others may lose updates. */
const exact = ['replicated', 'transactional', 'optimistic', 'deltas', 'batched'];
/** The strategies that are exact only if each turn of the event loop sees all earlier writes to localStorage. */
const exactIfMutexed = ['locked', 'log', 'lamport', 'eventual'];

/** @param {string} strategy @returns {any} */
const counterOptions = (strategy) => (strategy === 'deltas' ? { strategy, threshold: 0 } : { strategy });

besideEachVersion(({ url, openEarlier, withBothVersions, underSeeds, inBothRoles }) => {
    it('the two versions are loaded from different folders, and have different classes', () =>
        withBothVersions(1, async ({ tabs: [old, present] }) => {
            assert.ok(!url.startsWith(new URL('../../', import.meta.url).href), url);
            assert.notEqual(old.constructor, present.constructor);
        }));

    /** The codes of a tab's warnings. @param {Tab} tab */
    const warningsOf = (tab) => {
        /** @type {string[]} */
        const codes = [];
        tab.addEventListener('warning', ({ detail }) => void codes.push(detail.code));
        return codes;
    };

    it('a tab that only counts receives one warning that a tab of the earlier version counts, too', async () => {
        const origin = await newOrigin({ seed: 1 });
        const page = origin.openTab();
        const present = await open({ namespace, window: page.window });
        const other = await open({ namespace, window: origin.openTab().window });
        const warnings = [present, other].map(warningsOf);
        for (const tab of [present, other]) {
            tab.counter('n').subscribe(() => {});
            tab.counter('n').add(1);
            await tab.counter('n').flush();
        }
        await sleep(page, 500);
        assert.deepEqual(warnings, [[], []]);
        const earlier = await openEarlier({ namespace, window: origin.openTab().window });
        for (const round of [1, 2, 3]) {
            earlier.counter('n').add(round);
            await earlier.counter('n').flush();
            await sleep(page, 500);
        }
        assert.deepEqual(warnings, [['older-version'], ['older-version']]);
    });

    it('a tab that locks receives a warning of an idle tab of the earlier version, but not of a closed one', async () => {
        for (const closed of [false, true]) {
            const origin = await newOrigin({ seed: 1 });
            const page = origin.openTab();
            const earlier = await openEarlier({ namespace, window: page.window });
            earlier.counter('n').add(1);
            await earlier.counter('n').flush();
            await origin.settled();
            if (closed) page.kill();
            const tabs = [];
            for (const part of ['lock', 'counter']) {
                const { window } = origin.openTab();
                const tab = await open({ namespace, window });
                const warnings = warningsOf(tab);
                if (part === 'lock') await tab.lock('l').run(() => {});
                tab.counter('n').add(1);
                await tab.counter('n').flush();
                tabs.push(warnings);
            }
            await sleep(origin.openTab(), 5_000);
            assert.deepEqual(tabs, [closed ? [] : ['older-version'], []], `${closed}`);
        }
    });

    for (const strategy of [...exact, ...exactIfMutexed]) {
        const storage = exact.includes(strategy) ? 'cached' : 'mutexed';
        it(
            `tabs of both versions that count at once by the strategy ${strategy} are exact, also if one is killed`,
            underSeeds(
                async ({ tabs, pages }) => {
                    const counters = tabs.map((tab) => tab.counter('n', counterOptions(strategy)));
                    for (let round = 0; round < 3; ++round) {
                        await Promise.all(counters.map((counter, at) => counter.add(10 ** at)));
                        await Promise.all(counters.map((counter) => counter.flush()));
                    }
                    pages[0]?.kill();
                    pages[1]?.kill();
                    const left = counters.slice(2);
                    for (const counter of left) assert.equal(await counter.read(), 3333);
                    for (const counter of left) {
                        await counter.add(10_000);
                        await counter.flush();
                    }
                    for (const counter of left) assert.equal(await counter.read(), 23_333);
                },
                { storage },
            ),
        );
    }

    it('tabs of both versions that count one after another are exact by every strategy', () =>
        withBothVersions(1, async ({ tabs, origin }) => {
            for (const strategy of strategies) {
                let sum = 0;
                for (const tab of [...tabs, ...tabs]) {
                    const counter = tab.counter('n', counterOptions(strategy));
                    await counter.add(7);
                    await counter.flush();
                    await origin.settled();
                    assert.equal(await counter.read(), (sum += 7), strategy);
                }
            }
        }));

    it(
        'tabs of both versions receive each other’s increments without reading the store',
        inBothRoles(async ({ tabs, pages }) => {
            const counters = tabs.map((tab) => tab.counter('n'));
            await Promise.all(counters.map((counter) => counter.read()));
            counters[0]?.add(5);
            await counters[0]?.flush();
            await sleep(pages[0], 100);
            assert.deepEqual(
                counters.map(({ value }) => value),
                [5, 5, 5, 5],
            );
        }),
    );

    it('a tab of the earlier version receives each of several counters that change in one turn', async () => {
        const names = ['a', 'b', 'c'];
        const count = async (/** @type {Tab} */ tab) => {
            for (const name of names) tab.counter(name).add(1);
            await Promise.all(names.map((name) => tab.counter(name).flush()));
        };
        for (const closed of [false, true]) {
            const origin = await newOrigin({ seed: 1 });
            const page = origin.openTab();
            const counter = await openEarlier({ namespace, window: page.window });
            await count(counter);
            await origin.settled();
            if (closed) page.kill();
            const watchingPage = origin.openTab();
            const watcher = await openEarlier({ namespace, window: watchingPage.window });
            const present = await open({ namespace, window: origin.openTab().window });
            for (const name of names) await watcher.counter(name).read();
            for (let sum = 2; sum < 5; ++sum) {
                await count(present);
                await sleep(watchingPage, 200);
                for (const name of names) assert.equal(watcher.counter(name).value, sum, name);
            }
        }
    });

    it('a tab counts on from the backup of the other version if the database is lost', async () => {
        for (const [openWriter, openReader] of [
            [openEarlier, open],
            [open, openEarlier],
        ]) {
            const origin = await newOrigin({ seed: 1 });
            const start_ms = 1.8e12;
            const tokenOf = (/** @type {Tab | undefined} */ tab) =>
                tab?.lock('l').run((held) => Number(held.token));
            // Tokens follow the clock. The clock goes back by a day, or else it would hide that no backup is read.
            origin.setClock(start_ms);
            const page = origin.openTab();
            const writer = await openWriter?.({ namespace, window: page.window });
            writer?.counter('n').add(5);
            await writer?.counter('n').flush();
            const token = Number(await tokenOf(writer));
            assert.equal(await writer?.sequence('s').next(), 1);
            await origin.settled();
            page.kill();
            origin.loseDatabase();
            origin.setClock(start_ms - 86_400_000);
            const reader = await openReader?.({ namespace, window: origin.openTab().window });
            assert.equal(await reader?.counter('n').read(), 5);
            assert.ok(Number(await tokenOf(reader)) > token);
            assert.ok(Number(await reader?.sequence('s').next()) > 1);
            /** @type {import('tabacus').StoreLostDetail} */
            const lost = await new Promise((resolve) =>
                reader?.addEventListener('storelost', ({ detail }) => resolve(detail)),
            );
            assert.equal(lost.healed, 1);
        }
    });

    it('merge() accepts the state of a counter of the other version', () =>
        withBothVersions(1, async ({ tabs: [old, present] }) => {
            old.counter('n').add(3);
            await old.counter('n').flush();
            const elsewhere = await newOrigin({ seed: 100 });
            const opened = { namespace, window: elsewhere.openTab().window };
            for (const [openOther, own] of /** @type {const} */ ([
                [openEarlier, present],
                [open, old],
            ])) {
                const other = await openOther(opened);
                const before = await other.counter('n').read();
                await other.counter('n').merge(await own.counter('n').state());
                assert.equal(await other.counter('n').read(), 3, `${before}`);
                await other.close();
            }
        }));
});
