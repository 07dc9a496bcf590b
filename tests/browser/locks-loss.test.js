/**
 * The lock of a holder that is killed, frozen, hung or cached is granted to the next tab, and late writes are
 * refused.
 */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { ChromiumTab } from './harness/chromium.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { closeAll, useBrowser } from './harness/fixture.js';
import { openLocks, refusedWrites, take, whenQueued, write } from './harness/locks.js';
import { repetitions } from './harness/repetitions.js';
import { spread } from './harness/spread.js';

/** @typedef {import('./harness/tab.js').Tab} Tab */

const LATE_WRITES = 1000;
const DEATHS = repetitions(10, 50);

/** The number of deaths without Web Locks, where each takes as long as a lease. */
const LEASES = 5;

/** @param {Tab} tab */
function chromium(tab) {
    assert.ok(tab instanceof ChromiumTab);
    return tab;
}

/**
 * One tab waits for a lock while its holders are killed one after another.
 *
 * @param {number} deaths
 * @param {() => Promise<Tab>} open
 * @param {import('node:test').TestContext} t
 */
async function kill(deaths, open, t) {
    const waiter = await open();
    const times_ms = [];
    for (let death = 0; death < deaths; death++) {
        const killed = await open();
        await killed.pid();
        const last = await take(killed, 'it');
        const next = take(waiter, 'it');
        await whenQueued(waiter, 2);
        const before_ms = performance.now();
        await killed.kill();
        assert.ok((await next) > last);
        times_ms.push(performance.now() - before_ms);
        await waiter.evaluate(() => /** @type {any} */ (globalThis).held.it.release());
    }
    t.diagnostic(`after a death, in ms: ${spread(times_ms)}`);
    await waiter.close();
}

/**
 * Opens a tab that counts as visible, as in windows side by side, because the lease of a hidden tab is long.
 *
 * @param {import('./harness/locks.js').Fixture} browser
 * @param {string} namespace
 * @param {{ withoutLocks?: boolean }} [options]
 */
async function openInFront(browser, namespace, options) {
    const tab = await openLocks(browser, namespace, options);
    await chromium(tab).send('Emulation.setFocusEmulationEnabled', { enabled: true });
    return tab;
}

// The automation of WebKit ends with a killed tab, so death-webkit.test.js tests those.
describeIn([ENGINES.chromium, ENGINES.firefox], 'Locks of tabs that die', (engine) => {
    const browser = useBrowser(engine);

    it(`the lock of ${DEATHS} killed holders is granted to the next tab`, { timeout: 600_000 }, (t) => {
        const namespace = browser.namespace();
        return kill(DEATHS, () => openLocks(browser, namespace), t);
    });

    it('a call whose leader is killed within it is answered by the next leader, and is committed once', async () => {
        const namespace = browser.namespace();
        const [caller, first, second] = /** @type {[Tab, Tab, Tab]} */ (
            await Promise.all([0, 1, 2].map(() => openLocks(browser, namespace)))
        );
        /** @param {Tab} tab @param {boolean} hangs */
        const stand = (tab, hangs) =>
            tab.evaluate((never) => {
                const page = /** @type {any} */ (globalThis);
                page.runs = [];
                page.running = new Promise((resolve) => {
                    void page.tab.leader('l').run((/** @type {any} */ term) =>
                        term.answer(async (/** @type {any} */ { amount }, /** @type {any} */ call) => {
                            page.runs.push(call.id);
                            call.write('sums', async (/** @type {any} */ tx) => {
                                tx.put('sums', 'sum', ((await tx.get('sums', 'sum')) ?? 0) + amount);
                                tx.put('sums', 'calls', [
                                    ...((await tx.get('sums', 'calls')) ?? []),
                                    call.id,
                                ]);
                            });
                            resolve(undefined);
                            if (never && amount === 2) await new Promise(() => {});
                            return { paid: amount, term: call.term };
                        }),
                    );
                });
            }, hangs);
        /** @param {number} amount */
        const call = (amount) =>
            caller.evaluate(
                (asked) => /** @type {any} */ (globalThis).tab.leader('l').call({ amount: asked }),
                amount,
            );
        await stand(first, true);
        const before = await call(1);
        await stand(second, false);
        const answer = call(2);
        await first.evaluate(async () => {
            const page = /** @type {any} */ (globalThis);
            while (page.runs.length < 2) await new Promise((turn) => setTimeout(turn, 5));
        });
        await first.kill();
        const after = await answer;
        assert.deepEqual([before.paid, after.paid], [1, 2]);
        assert.ok(after.term > before.term);
        const [sum, calls] = await second.evaluate(() =>
            /** @type {any} */ (globalThis).tab
                .lock('other')
                .run((/** @type {any} */ held) =>
                    held.commit('sums', (/** @type {any} */ tx) =>
                        Promise.all([tx.get('sums', 'sum'), tx.get('sums', 'calls')]),
                    ),
                ),
        );
        assert.equal(sum, 3);
        assert.equal(new Set(calls).size, 2);
        await closeAll([caller, second]);
    });
});

describeIn([ENGINES.chromium], 'Locks of tabs that stop', (engine) => {
    const browser = useBrowser(engine);

    for (const withoutLocks of [false, true]) {
        const also = withoutLocks ? ', without Web Locks' : '';

        /** @param {string} namespace @param {typeof openLocks} [open] @returns {Promise<Tab[]>} */
        const openTwo = (namespace, open = openLocks) =>
            Promise.all([0, 1].map(() => open(browser, namespace, { withoutLocks })));

        it(`a frozen holder loses the lock to another tab, and its writes are refused when it is resumed${also}`, async (t) => {
            const namespace = browser.namespace();
            const [holder, other] = /** @type {[Tab, Tab]} */ (await openTwo(namespace));
            await take(holder, 'it', { maxHold: 2_000 });
            const before_ms = performance.now();
            await chromium(holder).send('Page.setWebLifecycleState', { state: 'frozen' });
            await write(other, 'other');
            t.diagnostic(`granted after ${Math.round(performance.now() - before_ms)} ms`);
            await chromium(holder).send('Page.setWebLifecycleState', { state: 'active' });
            assert.equal(await refusedWrites(holder, 'it', LATE_WRITES), LATE_WRITES);
            assert.equal(await write(other, 'again'), 'other');
            await closeAll([holder, other]);
        });

        it(`a hung holder is evicted while it hangs, and its writes are refused afterwards${also}`, async (t) => {
            const namespace = browser.namespace();
            const [holder, other] = /** @type {[Tab, Tab]} */ (await openTwo(namespace, openInFront));
            await take(holder, 'it', { maxHold: 1_000 });
            const hung = holder.evaluate(
                () =>
                    new Promise((resolve) => {
                        setTimeout(() => {
                            const end_ms = Date.now() + 12_000;
                            while (Date.now() < end_ms);
                            resolve(Date.now());
                        });
                    }),
            );
            const before_ms = Date.now();
            await other.evaluate(() =>
                /** @type {any} */ (globalThis).tab.lock('l').run(() => {}, { maxHold: 1_000 }),
            );
            const in_ms = Date.now();
            await write(other, 'other');
            t.diagnostic(`granted after ${in_ms - before_ms} ms`);
            assert.ok((await hung) > in_ms, 'the grant did not wait for the end of the hang');
            assert.equal(await refusedWrites(holder, 'it', LATE_WRITES), LATE_WRITES);
            assert.equal(await write(other, 'again'), 'other');
            await closeAll([holder, other]);
        });

        it(`a holder that enters the back/forward cache loses the lock, and acquires it again when it is restored${also}`, async () => {
            const namespace = browser.namespace();
            const [traveller, other] = /** @type {[Tab, Tab]} */ (await openTwo(namespace));
            for (let trip = 0; trip < 5; trip++) {
                const last = await take(traveller, 'it');
                await chromium(traveller).navigate(`${browser.site.url}/away.html`);
                assert.ok((await take(other, 'it')) > last);
                await chromium(traveller).go(-1);
                const [held, code] = await traveller.evaluate(() => {
                    const { it: mine } = /** @type {any} */ (globalThis).held;
                    return [mine.held, mine.signal.reason?.code];
                });
                assert.deepEqual([held, code], [false, 'lock-lost']);
                assert.equal(await refusedWrites(traveller, 'it', 20), 20);
                await other.evaluate(() => /** @type {any} */ (globalThis).held.it.release());
                assert.ok((await take(traveller, 'it')) > last);
                await traveller.evaluate(() => /** @type {any} */ (globalThis).held.it.release());
            }
            await closeAll([traveller, other]);
        });
    }

    it(
        `the lock of ${LEASES} killed holders is granted to the next tab, without Web Locks`,
        { timeout: 300_000 },
        (t) => {
            const namespace = browser.namespace();
            return kill(LEASES, () => openInFront(browser, namespace, { withoutLocks: true }), t);
        },
    );
});
