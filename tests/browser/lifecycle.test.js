/** The package recovers from everything that a browser does to a page and to its store, or reports it. */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { STRATEGIES } from '../../js/common/strategies.js';
import { ChromiumTab } from './harness/chromium.js';
import { call } from './harness/commands.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { closeAll, useBrowser } from './harness/fixture.js';
import { until } from './harness/waiting.js';

/** @typedef {import('./harness/tab.js').Tab} Tab */

const ROUND_TRIPS = 20;

/** Waits until no Web Lock is held. @param {Tab} tab */
const atRest = (tab) =>
    until(
        () => tab.evaluate(async () => (await navigator.locks.query()).held?.length === 0),
        'the release of all locks',
    );

/** Adds one and answers whenever the other page has gone to turn-back.html. Runs in a page. */
function answerTravellers() {
    const channel = new BroadcastChannel('turn-back');
    channel.onmessage = async () => {
        const { page } = /** @type {any} */ (globalThis);
        page.add('visits', 1);
        await page.flush('visits');
        channel.postMessage('answered');
    };
}

/**
 * Adds 100, waits until no lock is held, and leaves the page, again and again. Each return appends the state that it
 * finds to `localStorage.returns`. Runs in a page. The test does not call the page meanwhile, since Firefox does not keep a page
 * a second time after WebDriver BiDi has called it.
 *
 * @param {string} url
 * @param {number} trips
 */
function travel(url, trips) {
    const { page } = /** @type {any} */ (globalThis);
    /** @type {[boolean, number, number][]} */
    const returns = [];
    const leave = async () => {
        page.add('visits', 100);
        // The flush after an interrupted commit fails if the row has another owner since then.
        await page.flush('visits').catch(() => page.flush('visits'));
        while ((await navigator.locks.query()).held?.length)
            await new Promise((resolve) => setTimeout(resolve));
        location.assign(url);
    };
    addEventListener('pageshow', async ({ persisted }) => {
        returns.push([persisted, await page.read('visits'), page.value('visits')]);
        localStorage.returns = JSON.stringify(returns);
        if (persisted && returns.length < trips) await leave();
    });
    setTimeout(leave);
}

describeIn(
    [ENGINES.firefox],
    'Page lifecycle where a lock bars a page from the back/forward cache',
    (engine) => {
        const browser = useBrowser(engine);

        for (const late of [0, 10]) {
            const and = late ? ', also with adds while the page is left' : '';
            it(`a page is kept on ${ROUND_TRIPS} of ${ROUND_TRIPS} trips while its counter is idle, and its first read is complete${and}`, async () => {
                const namespace = browser.namespace();
                const other = await browser.openIn({ namespace });
                await other.evaluate(answerTravellers);
                const traveller = await browser.openTab();
                // This listener runs before those of the package.
                await traveller.evaluate(
                    (n) =>
                        addEventListener(
                            'pagehide',
                            () => void (/** @type {any} */ (globalThis).page.add('visits', n)),
                        ),
                    late,
                );
                await call(traveller, 'open', { namespace });
                await traveller.evaluate(travel, `${browser.site.url}/turn-back.html`, ROUND_TRIPS);
                const returns = () => other.evaluate(() => JSON.parse(localStorage.returns ?? '[]'));
                await until(async () => (await returns()).length >= ROUND_TRIPS, 'all trips');
                const trip = 101 + late;
                assert.deepEqual(
                    await returns(),
                    Array.from({ length: ROUND_TRIPS }, (_, i) => [true, trip * (i + 1), trip * (i + 1)]),
                );
                await call(other, 'converged', 'visits', trip * ROUND_TRIPS);
                await call(traveller, 'flush', 'visits').catch(() => call(traveller, 'flush', 'visits'));
                assert.equal(await call(other, 'read', 'visits'), trip * ROUND_TRIPS);
                await other.evaluate(() => localStorage.removeItem('returns'));
                await closeAll([traveller, other]);
            });
        }

        it('an idle tab that does not know that its slot was adopted is fenced when it commits', async () => {
            const namespace = browser.namespace();
            const tabs = [await browser.openTab(), await browser.openTab()];
            for (const tab of tabs) {
                await tab.evaluate(() => Reflect.deleteProperty(globalThis, 'BroadcastChannel'));
                await call(tab, 'open', { namespace });
            }
            for (let round = 1; round <= 5; round++) {
                for (const tab of tabs) {
                    await call(tab, 'add', 'deaf', round);
                    await call(tab, 'flush', 'deaf');
                    await atRest(tab);
                }
                for (const tab of tabs) assert.equal(await call(tab, 'read', 'deaf'), round * (round + 1));
            }
            await closeAll(tabs);
        });
    },
);

/** @param {Tab} tab */
function chromium(tab) {
    assert.ok(tab instanceof ChromiumTab);
    return tab;
}

describeIn([ENGINES.chromium], 'Page lifecycle', (engine) => {
    const browser = useBrowser(engine);

    it(`bfcache: a page is kept on ${ROUND_TRIPS} of ${ROUND_TRIPS} trips, and its first read is complete`, async () => {
        const namespace = browser.namespace();
        const traveller = chromium(await browser.openIn({ namespace }));
        const other = await browser.openIn({ namespace });
        await call(traveller, 'add', 'visits', 100);
        await call(traveller, 'flush', 'visits');
        for (let trip = 1; trip <= ROUND_TRIPS; trip++) {
            await traveller.navigate(`${browser.site.url}/away.html`);
            await call(other, 'add', 'visits', 1);
            await call(other, 'flush', 'visits');
            await traveller.go(-1);
            assert.equal(await call(traveller, 'read', 'visits'), 100 + trip);
            assert.equal(await call(traveller, 'value', 'visits'), 100 + trip);
        }
        const shown = (await call(traveller, 'shown')).slice(-ROUND_TRIPS);
        assert.deepEqual(shown, Array(ROUND_TRIPS).fill(true));
        await closeAll([traveller, other]);
    });

    it('bfcache: increments that were flushed just before the page was left reach the other tabs', async () => {
        const namespace = browser.namespace();
        const traveller = chromium(await browser.openIn({ namespace }));
        const other = await browser.openIn({ namespace });
        await call(other, 'read', 'leaving');
        for (let trip = 1; trip <= 5; trip++) {
            await call(traveller, 'add', 'leaving', 1);
            await call(traveller, 'flush', 'leaving');
            await traveller.navigate(`${browser.site.url}/away.html`);
            await call(other, 'converged', 'leaving', trip);
            await traveller.go(-1);
        }
        await closeAll([traveller, other]);
    });

    it('bfcache: increments that were not flushed before the page was left are counted once, at the latest when it is back', async (t) => {
        const namespace = browser.namespace();
        const traveller = chromium(await browser.openIn({ namespace }));
        const other = await browser.openIn({ namespace });
        let least = 0;
        let most = 0;
        for (let trip = 1; trip <= 5; trip++) {
            await call(traveller, 'add', 'pending', 1);
            await traveller.navigate(`${browser.site.url}/away.html`);
            await call(other, 'add', 'pending', 1);
            await call(other, 'flush', 'pending');
            await traveller.go(-1);
            // The browser may discard a page with work under way, and with it the increments that were not flushed.
            const kept = await call(traveller, 'isOpen');
            if (!kept) await call(traveller, 'open', { namespace });
            await call(traveller, 'flush', 'pending');
            least += kept ? 2 : 1;
            most += 2;
            for (const tab of [traveller, other]) {
                const value = await call(tab, 'read', 'pending');
                assert.ok(value >= least && value <= most, `${value}, not ${least} to ${most}`);
            }
        }
        t.diagnostic(`${least} to ${most}`);
        await closeAll([traveller, other]);
    });

    it('bfcache: a page that counts by every strategy is kept, and counts on', async () => {
        const namespace = browser.namespace();
        const traveller = chromium(await browser.openIn({ namespace }));
        const strategies = STRATEGIES.filter((name) => name !== 'replicated');
        for (let trip = 1; trip <= 3; trip++) {
            for (const strategy of strategies) {
                assert.equal(await call(traveller, 'add', strategy, 1, { strategy }), trip, strategy);
                await call(traveller, 'flush', strategy, { strategy });
            }
            await traveller.navigate(`${browser.site.url}/away.html`);
            await traveller.go(-1);
        }
        assert.deepEqual((await call(traveller, 'shown')).slice(-3), [true, true, true]);
        await traveller.close();
    });

    it('bfcache: a new tab adopts the slot of a page in the cache, and both count on', async () => {
        const namespace = browser.namespace();
        const traveller = chromium(await browser.openIn({ namespace }));
        await call(traveller, 'add', 'slots', 1);
        await call(traveller, 'flush', 'slots');
        await traveller.navigate(`${browser.site.url}/away.html`);
        const adopter = await browser.openIn({ namespace });
        await call(adopter, 'add', 'slots', 10);
        await call(adopter, 'flush', 'slots');
        await traveller.go(-1);
        await call(traveller, 'add', 'slots', 100);
        await call(traveller, 'flush', 'slots');
        await call(adopter, 'add', 'slots', 1000);
        await call(adopter, 'flush', 'slots');
        for (const tab of [traveller, adopter]) assert.equal(await call(tab, 'read', 'slots'), 1111);
        await closeAll([traveller, adopter]);
    });

    it('a frozen tab blocks no other tab, and reads everything when it is resumed', async () => {
        const namespace = browser.namespace();
        const frozen = chromium(await browser.openIn({ namespace }));
        const other = await browser.openIn({ namespace });
        for (let round = 1; round <= 5; round++) {
            await call(frozen, 'add', 'frost', 1);
            // Chromium itself freezes no page with an open transaction, but the protocol's command would.
            await call(frozen, 'flush', 'frost');
            await frozen.send('Page.setWebLifecycleState', { state: 'frozen' });
            await call(other, 'add', 'frost', 1);
            await call(other, 'flush', 'frost');
            await call(other, 'read', 'frost');
            await frozen.send('Page.setWebLifecycleState', { state: 'active' });
            for (const tab of [frozen, other]) {
                assert.equal(await call(tab, 'read', 'frost'), 2 * round);
            }
        }
        await closeAll([frozen, other]);
    });

    it('a page that is closed has committed its last increments', async () => {
        const namespace = browser.namespace();
        const leaving = await browser.openIn({ namespace });
        const other = await browser.openIn({ namespace });
        await call(leaving, 'add', 'last', 5);
        await call(other, 'converged', 'last', 5);
        await leaving.close();
        const late = await browser.openIn({ namespace });
        assert.equal(await call(late, 'read', 'last'), 5);
        await closeAll([other, late]);
    });
});

describeIn([ENGINES.chromium, ENGINES.firefox], 'A database that other scripts change', (engine) => {
    const browser = useBrowser(engine);

    it('a later version of the package does not wait for the database, and counting goes on', async () => {
        const namespace = browser.namespace();
        const tabs = [await browser.openIn({ namespace }), await browser.openIn({ namespace })];
        const stranger = await browser.openTab();
        for (const tab of tabs) await call(tab, 'add', 'upgraded', 1);
        for (const tab of tabs) await call(tab, 'flush', 'upgraded');
        await call(stranger, 'upgradeDatabase', namespace);
        for (const tab of tabs) await call(tab, 'add', 'upgraded', 1);
        for (const tab of tabs) await call(tab, 'flush', 'upgraded');
        for (const tab of tabs) assert.equal(await call(tab, 'read', 'upgraded'), 4);
        await closeAll([...tabs, stranger]);
    });

    it('opening a database is tried again after a failure, and waiting calls are answered', async () => {
        const namespace = browser.namespace();
        const tab = await browser.openIn({ namespace });
        const stranger = await browser.openTab();
        await call(tab, 'add', 'reopened', 1);
        await call(tab, 'flush', 'reopened');
        await call(tab, 'addWhenUpgraded', namespace, 'reopened');
        await call(tab, 'failNextOpening');
        await call(stranger, 'upgradeDatabase', namespace);
        await call(tab, 'flush', 'reopened');
        assert.equal(await call(tab, 'read', 'reopened'), 2);
        await closeAll([tab, stranger]);
    });

    it('a database that a script deletes is reported and recovered from memory, and counting goes on', async () => {
        const namespace = browser.namespace();
        const tabs = [await browser.openIn({ namespace }), await browser.openIn({ namespace })];
        const stranger = await browser.openTab();
        for (const tab of tabs) await call(tab, 'add', 'deleted', 5);
        for (const tab of tabs) await call(tab, 'flush', 'deleted');
        await call(stranger, 'deleteDatabase', namespace);
        await assertHealed(tabs, 'deleted', 10);
        await closeAll([...tabs, stranger]);
    });
});

/**
 * Asserts that at least one tab is notified of the loss, and that no tab sees the count restart.
 *
 * @param {Tab[]} tabs
 * @param {string} name
 * @param {number} total
 */
async function assertHealed(tabs, name, total) {
    for (const [i, tab] of tabs.entries()) {
        await call(tab, 'add', name, 1);
        await call(tab, 'flush', name);
        assert.ok((await call(tab, 'read', name)) >= total + i + 1, `tab ${i} restarted`);
    }
    const losses = await Promise.race(tabs.map((tab) => call(tab, 'event', 'storelost')));
    assert.ok(losses.length > 0);
    for (const tab of tabs) assert.equal(await call(tab, 'read', name), total + tabs.length);
}

describeIn([ENGINES.chromium], 'Site data cleared', (engine) => {
    const browser = useBrowser(engine);

    /** @param {Tab} tab @param {string} storageTypes */
    const clear = (tab, storageTypes) =>
        chromium(tab).send('Storage.clearDataForOrigin', { origin: browser.site.url, storageTypes });

    for (const storageTypes of ['indexeddb', 'indexeddb,local_storage', 'all']) {
        it(`data cleared under open tabs (${storageTypes}) are reported and recovered`, async () => {
            const namespace = browser.namespace();
            const tabs = [await browser.openIn({ namespace }), await browser.openIn({ namespace })];
            for (const tab of tabs) await call(tab, 'add', 'cleared', 5);
            for (const tab of tabs) await call(tab, 'flush', 'cleared');
            for (const tab of tabs) await call(tab, 'read', 'cleared');
            assert.ok(tabs[0]);
            await clear(tabs[0], storageTypes);
            await assertHealed(tabs, 'cleared', 10);
            const late = await browser.openIn({ namespace });
            assert.equal(await call(late, 'read', 'cleared'), 12);
            await closeAll([...tabs, late]);
        });
    }

    for (const what of /** @type {const} */ (['transactional', 'stores', 'once', 'queue', 'sequence'])) {
        it(`each of three tabs that store something in the database (${what}) is notified`, async () => {
            const namespace = browser.namespace();
            const tabs = [];
            for (let i = 0; i < 3; i++) tabs.push(await browser.openIn({ namespace }));
            for (const tab of tabs) await call(tab, 'use', what);
            assert.ok(tabs[0]);
            await clear(tabs[0], 'all');
            for (const tab of tabs) await call(tab, 'event', 'storelost');
            await closeAll(tabs);
        });
    }

    it('a database that is cleared while no tab is open is recovered from the backup and reported', async () => {
        const namespace = browser.namespace();
        const first = await browser.openIn({ namespace });
        await call(first, 'add', 'recovered', 7);
        await call(first, 'flush', 'recovered');
        assert.equal((await call(first, 'close')) ?? 'closed', 'closed');
        const cleaner = await browser.openTab();
        await clear(cleaner, 'indexeddb');
        const adopter = await browser.openIn({ namespace });
        assert.equal(await call(adopter, 'read', 'recovered'), 7);
        const [{ healed }] = /** @type {any} */ (await call(adopter, 'event', 'storelost'));
        assert.ok(healed > 0);
        await closeAll([first, cleaner, adopter]);
    });
});

// Each strategy has a browser of its own, since Chromium remembers for a while how much space an origin had.
for (const strategy of /** @type {const} */ (['replicated', 'transactional'])) {
    describeIn([ENGINES.chromium], `Quota exceeded, ${strategy}`, (engine) => {
        const browser = useBrowser(engine);

        it('calls reject with quota-exceeded, and the counter is exact again when there is space', async () => {
            const namespace = browser.namespace();
            const origin = browser.site.url;
            const options = { strategy };
            const tab = chromium(await browser.openTab());
            await tab.send('Storage.overrideQuotaForOrigin', { origin, quotaSize: 1 });
            await call(tab, 'open', { namespace });
            const tryAdd = () =>
                call(tab, 'add', strategy, 1, options)
                    .then(() => call(tab, 'flush', strategy, options))
                    .then(
                        () => 'committed',
                        (error) => String(error.code),
                    );
            for (let i = 0; i < 5; i++) assert.equal(await tryAdd(), 'quota-exceeded');
            await tab.send('Storage.overrideQuotaForOrigin', { origin });
            assert.equal(await tryAdd(), 'committed');
            // The default strategy keeps refused increments and tries them again. The other one does not keep them.
            const total = strategy === 'replicated' ? 6 : 1;
            assert.equal(await call(tab, 'read', strategy, options), total);
            const late = await browser.openIn({ namespace });
            assert.equal(await call(late, 'read', strategy, options), total);
            await closeAll([tab, late]);
        });
    });
}
