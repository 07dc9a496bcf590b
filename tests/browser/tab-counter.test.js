/** One counter over the Workers of three real tabs, one of which dies, as does a Worker of another one. */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { describeIn, ENGINES } from './harness/engines.js';
import { closeAll, useBrowser } from './harness/fixture.js';

/** @typedef {import('./harness/tab.js').Tab} Tab */

const WORKERS = 2;
const ADDS = 10_000;

describeIn(
    [ENGINES.chromium, ENGINES.firefox, ENGINES.webkit],
    'A counter over threads and tabs',
    (engine) => {
        const browser = useBrowser(engine);

        /**
         * Opens a tab with a memory and attached Workers.
         *
         * @param {string} namespace
         */
        const openThreads = async (namespace) => {
            const tab = await browser.openTab();
            await tab.evaluate(
                async (name, workers) => {
                    const { open } = await import(/** @type {any} */ ('/dist/web/tabacus.js'));
                    const { threads } = await import(/** @type {any} */ ('/dist/web/tabacus-threads.js'));
                    const page = /** @type {any} */ (globalThis);
                    page.tab = await open({ namespace: name });
                    page.shared = await threads({ tab: page.tab });
                    page.workers = Array.from(
                        { length: workers },
                        () => new Worker('/programs/tab-locker.web.js', { type: 'module' }),
                    );
                    page.call = (
                        /** @type {Worker} */ worker,
                        /** @type {string} */ method,
                        /** @type {any} */ ...args
                    ) =>
                        new Promise((resolve, reject) => {
                            worker.onmessage = ({ data: { value, error } }) =>
                                error
                                    ? reject(new Error(`${error.name} ${error.code}: ${error.message}`))
                                    : resolve(value);
                            worker.onerror = ({ message }) => reject(new Error(message));
                            worker.postMessage({ method, args });
                        });
                    for (const worker of page.workers) await page.call(worker, 'attach', page.shared.handle);
                },
                namespace,
                WORKERS,
            );
            return tab;
        };

        /** Adds in all Workers of a tab, and flushes in each. @param {Tab} tab */
        const count = (tab) =>
            tab.evaluate(async (adds) => {
                const { workers, call } = /** @type {any} */ (globalThis);
                await Promise.all(
                    workers.map((/** @type {Worker} */ worker) => call(worker, 'add', 'n', 1, adds)),
                );
                await Promise.all(workers.map((/** @type {Worker} */ worker) => call(worker, 'flush', 'n')));
            }, ADDS);

        /** Terminates a Worker that adds. Returns how often its add() had returned. @param {Tab} tab */
        const terminateOne = (tab) =>
            tab.evaluate(async () => {
                const { workers, call, shared } = /** @type {any} */ (globalThis);
                const added = new Int32Array(new SharedArrayBuffer(4));
                call(workers[0], 'addForEver', 'n', added).catch(() => {});
                while (Atomics.load(added, 0) < 5_000) await new Promise((turn) => setTimeout(turn, 1));
                workers[0].terminate();
                let before;
                do {
                    before = Atomics.load(added, 0);
                    await new Promise((turn) => setTimeout(turn, 20));
                } while (Atomics.load(added, 0) !== before);
                await shared.tabCounter('n').flushAsync();
                return before;
            });

        /** @param {Tab} tab */
        const read = (tab) =>
            tab.evaluate(() => /** @type {any} */ (globalThis).shared.tabCounter('n').read());

        it('it is exact after one Worker is terminated and one tab has died', async () => {
            const namespace = browser.namespace();
            const [a, b, c] = /** @type {[Tab, Tab, Tab]} */ (
                await Promise.all([namespace, namespace, namespace].map(openThreads))
            );
            await Promise.all([a, b, c].map(count));
            const returned = await terminateOne(a);
            // WebKit's automation ends when a process is killed.
            await (engine.name === ENGINES.webkit.name ? b.close() : b.kill());
            await count(c);
            const least = 4 * WORKERS * ADDS + returned;
            const total = await read(c);
            assert.ok(total === least || total === least + 1, `${total} of ${least}`);
            assert.equal(await read(a), total);
            const values = await c.evaluate(async () => {
                const { workers, call } = /** @type {any} */ (globalThis);
                return Promise.all(workers.map((/** @type {Worker} */ worker) => call(worker, 'value', 'n')));
            });
            assert.deepEqual(
                values,
                Array.from({ length: WORKERS }, () => total),
            );
            await closeAll([a, c]);
        });
    },
);
