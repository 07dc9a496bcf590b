/** LockManager in place of navigator.locks in real tabs: the order of grants, and what query() reports. */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { describeIn, ENGINES } from './harness/engines.js';
import { closeAll, useBrowser } from './harness/fixture.js';

/** @typedef {import('./harness/tab.js').Tab} Tab */

describeIn([ENGINES.chromium, ENGINES.firefox, ENGINES.webkit], 'LockManager', (engine) => {
    const browser = useBrowser(engine);

    /** @param {string} namespace */
    const openManager = async (namespace) => {
        const tab = await browser.openTab();
        await tab.evaluate(async (name) => {
            const { open } = await import(/** @type {any} */ ('/dist/web/tabacus.js'));
            const { LockManager } = await import(/** @type {any} */ ('/dist/web/tabacus-compat-locks.js'));
            const page = /** @type {any} */ (globalThis);
            page.locks = new LockManager(await open({ namespace: name }));
        }, namespace);
        return tab;
    };

    it('LockManager grants in the order of the requests, over names, and after a release', async () => {
        const tab = await openManager(browser.namespace());
        const [first, second] = await tab.evaluate(async () => {
            const { locks } = /** @type {any} */ (globalThis);
            /** @type {number[]} */
            const granted = [];
            await Promise.all(
                [...'abcabc'].map((name, at) =>
                    locks.request(name, { mode: 'shared' }, () => granted.push(at)),
                ),
            );
            /** @type {number[]} */
            const nested = [];
            /** @type {Promise<unknown> | undefined} */
            let inner;
            await locks.request('a', async () => {
                inner = Promise.all([
                    locks.request('a', () => nested.push(1)),
                    locks.request('d', () => nested.push(2)),
                ]);
            });
            await inner;
            return [granted, nested];
        });
        assert.deepEqual(first, [0, 1, 2, 3, 4, 5]);
        assert.deepEqual(second, [2, 1]);
        await tab.close();
    });

    it('query() reports the requests before it: five shared, one exclusive and five shared ones', async () => {
        const tab = await openManager(browser.namespace());
        const seen = await tab.evaluate(async () => {
            const { locks } = /** @type {any} */ (globalThis);
            /** @type {(() => void)[]} */
            const ends = [];
            const until = () => new Promise((resolve) => ends.push(() => resolve(undefined)));
            const [one, two, three] = [until(), until(), until()];
            const share = (/** @type {Promise<unknown>} */ end) =>
                Array.from({ length: 5 }, () => locks.request('n', { mode: 'shared' }, () => end));
            const count = async () => {
                const { held, pending } = await locks.query();
                return [held.length, held[0]?.mode, pending.length];
            };
            const shared = share(one);
            const exclusive = locks.request('n', () => two);
            const behind = share(three);
            const counts = [await count()];
            ends[0]?.();
            await Promise.all(shared);
            counts.push(await count());
            ends[1]?.();
            await exclusive;
            counts.push(await count());
            ends[2]?.();
            await Promise.all(behind);
            counts.push(await count());
            return counts;
        });
        assert.deepEqual(seen.slice(0, 3), [
            [5, 'shared', 6],
            [1, 'exclusive', 5],
            [5, 'shared', 0],
        ]);
        assert.deepEqual(
            seen[3]?.filter((count) => typeof count === 'number'),
            [0, 0],
        );
        await tab.close();
    });

    it('LockManager excludes over tabs, reports the requests of both, steals, and accepts every name', async () => {
        const namespace = browser.namespace();
        const [a, b] = /** @type {[Tab, Tab]} */ (
            await Promise.all([0, 1].map(() => openManager(namespace)))
        );
        // Strings that are not well-formed do not pass the protocols of the drivers, so the pages make them.
        await a.evaluate(async () => {
            const page = /** @type {any} */ (globalThis);
            await new Promise((granted) => {
                page.previous = page.locks
                    .request('\uD800\0', () => (granted(undefined), new Promise(() => {})))
                    .catch((/** @type {any} */ error) => error.name);
            });
        });
        const seen = await b.evaluate(async () => {
            const { locks } = /** @type {any} */ (globalThis);
            const name = '\uD800\0';
            const unavailable = await locks.request(
                name,
                { ifAvailable: true },
                (/** @type {any} */ lock) => lock,
            );
            const controller = new AbortController();
            const waits = locks
                .request(name, { signal: controller.signal }, () => {})
                .catch((/** @type {any} */ error) => error);
            const { held, pending } = await locks.query();
            controller.abort('enough');
            const aborted = await waits;
            const stolen = await locks.request(
                name,
                { steal: true },
                (/** @type {any} */ lock) => lock.name === name,
            );
            return {
                unavailable,
                names: [held[0]?.name === name, pending[0]?.name === name],
                counts: [held.length, pending.length],
                clients: new Set([held[0]?.clientId, pending[0]?.clientId]).size,
                aborted,
                stolen,
            };
        });
        assert.deepEqual(seen, {
            unavailable: null,
            names: [true, true],
            counts: [1, 1],
            clients: 2,
            aborted: 'enough',
            stolen: true,
        });
        assert.equal(await a.evaluate(() => /** @type {any} */ (globalThis).previous), 'AbortError');
        await closeAll([a, b]);
    });
});
