/** Pages in which the files, the Workers or the memory of C++ threads are missing or forbidden. */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { describeIn, ENGINES } from './harness/engines.js';
import { freezeAll, uncaught, useFaultySite } from './harness/faulty-tabs.js';

/** Counts with C++ threads. Runs in a page. */
async function hammer() {
    const { outcome, tabacus } = /** @type {any} */ (globalThis);
    const shared = await tabacus.threads();
    const counter = shared.counter('c');
    const failed = await outcome(() => shared.hammer(counter, { threads: 2, adds: 3 }));
    shared.close();
    return String(failed ?? 'counted');
}

describeIn(
    Object.values(ENGINES),
    'A page with C++ threads whose files do not load, or that forbids or lacks something',
    (engine) => {
        const site = useFaultySite(engine);

        it('C++ threads count in a page with frozen intrinsics', async () => {
            const tab = await site.show(site.page(), freezeAll);
            assert.equal(await tab.evaluate(hammer), 'counted');
            assert.deepEqual(await tab.evaluate(uncaught), []);
            await tab.close();
        });

        const withTrustedTypes = (/** @type {string} */ names) => (/** @type {string} */ csp) =>
            `${csp}; require-trusted-types-for 'script'; trusted-types ${names}`;

        it('hammer() reports that the program of C++ threads is missing, and the next call loads it', async () => {
            const page = site.page();
            const tab = await site.show(page);
            await tab.evaluate(async () => {
                const all = /** @type {any} */ (globalThis);
                all.shared = await all.tabacus.threads();
            });
            /** Counts with two C++ threads, and locks, in one memory. */
            const use = () =>
                tab.evaluate(async () => {
                    const { outcome, shared } = /** @type {any} */ (globalThis);
                    const counter = shared.counter('c');
                    const failed = await outcome(() => shared.hammer(counter, { threads: 2, adds: 3 }));
                    const refused = await outcome(() => shared.locks.request('l', () => {}));
                    return [failed ?? counter.value, refused ?? 'locked'].map(String);
                });
            page.fail(/threads\.wasm$/);
            const [failed = '', refused = ''] = await use();
            assert.match(failed, /^TabacusError unavailable: threads\.wasm could not be loaded from .*404/);
            assert.match(refused, /^TabacusError unavailable: the page could not load/);
            page.fail(undefined);
            assert.deepEqual(await use(), ['6', 'locked']);
            assert.deepEqual(await tab.evaluate(uncaught), []);
            await tab.close();
        });

        it('an error reports that worker-src forbids the Workers of threads', async () => {
            const tab = await site.show(
                site.page((csp) => csp.replace("worker-src 'self'", "worker-src 'none'")),
            );
            assert.match(await tab.evaluate(hammer), /^TabacusError unavailable: .*worker-src/);
            assert.deepEqual(await tab.evaluate(uncaught), []);
            await tab.close();
        });

        it('the Workers of threads are made by the Trusted Types policy tabacus, or an error reports that it is not allowed', async () => {
            const allowed = await site.show(site.page(withTrustedTypes('tabacus')));
            assert.equal(await allowed.evaluate(hammer), 'counted');
            assert.deepEqual(await allowed.evaluate(uncaught), []);
            await allowed.close();
            const refused = await site.show(site.page(withTrustedTypes("'none'")));
            const enforced = await refused.evaluate(() => 'trustedTypes' in globalThis);
            const failed = await refused.evaluate(hammer);
            if (enforced) assert.match(failed, /^TabacusError unavailable: .*add "trusted-types tabacus"/);
            else assert.equal(failed, 'counted');
            assert.deepEqual(await refused.evaluate(uncaught), []);
            await refused.close();
        });

        it('an error reports that the file of the Workers of threads is missing', async () => {
            const page = site.page();
            const tab = await site.show(page);
            await tab.evaluate(async () => {
                const { tabacus } = /** @type {any} */ (globalThis);
                (await tabacus.threads()).close(); // this loads the files that the page itself needs
            });
            page.fail(/threads-worker\.js$/);
            assert.match(
                await tab.evaluate(hammer),
                /^TabacusError unavailable: the Worker of a C\+\+ thread failed/,
            );
            assert.deepEqual(await tab.evaluate(uncaught), []);
            await tab.close();
        });

        it('threads() needs neither MessageChannel nor randomUUID, and errors name a missing Worker and SharedArrayBuffer', async () => {
            const tab = await site.show(site.page(), () => {
                const all = /** @type {any} */ (globalThis);
                delete all.MessageChannel;
                delete all.Crypto.prototype.randomUUID;
            });
            const outcomes = await tab.evaluate(async () => {
                const page = /** @type {any} */ (globalThis);
                const own = await page.tabacus.open({ namespace: 'threads' });
                const shared = await page.tabacus.threads({ tab: own });
                const storage = await shared.storage();
                storage.setItem('k', 'v');
                const granted = await shared.tabLock('l').lockAsync();
                granted.release?.();
                const locked = await shared.locks.request('l', () => 'locked');
                const stored = storage.getItem('k');
                delete page.Worker;
                const counter = shared.counter('c');
                const noWorker = await page.outcome(() => shared.hammer(counter, { threads: 1, adds: 1 }));
                shared.close();
                delete page.SharedArrayBuffer;
                return [stored, locked, noWorker, await page.outcome(() => page.tabacus.threads())];
            });
            const [stored, locked, noWorker, noMemory] = outcomes;
            assert.deepEqual([stored, locked], ['v', 'locked']);
            assert.match(noWorker, /^TabacusError unavailable: a C\+\+ thread needs Worker/);
            assert.match(
                noMemory,
                /^TabacusError unavailable: shared memory needs a cross-origin isolated page/,
            );
            assert.deepEqual(await tab.evaluate(uncaught), []);
            await tab.close();
        });
    },
);
