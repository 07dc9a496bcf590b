/** Shared memory in the engines: the article's program, the page's own thread, and its refusals. */

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';

import { articleAdds, articleWorkers, exactKinds } from '../programs/article.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { serveSite } from './harness/site.js';

const total = articleWorkers * articleAdds;

/** As in tests/node/threads-article.test.js. */
const triesMax = 500;

describeIn(Object.values(ENGINES), 'Shared memory', (engine) => {
    /** @type {Awaited<ReturnType<typeof serveSite>>} */
    let site;
    /** @type {import('./harness/engines.js').Browser} */
    let browser;
    /** @type {import('./harness/tab.js').Tab} */
    let tab;

    before(async () => {
        site = await serveSite();
        browser = await engine.launch();
        tab = await browser.openTab(site.page);
        await tab.evaluate(async (workers) => {
            const page = /** @type {any} */ (globalThis);
            const load = (/** @type {string} */ path) => import(path);
            const { threads, TabacusError } = await load('/dist/web/tabacus-threads.js');
            const { startAdders, addersAll } = await load('/programs/adders.js');
            const { spawn } = await load('/programs/spawn.web.js');
            const shared = await threads();
            const adders = await startAdders(spawn, workers, shared.handle);
            const program = await load('/programs/article.js');
            Object.assign(page, { shared, adders, addersAll, threads, TabacusError, ...program });
        }, articleWorkers);
    });
    after(async () => {
        await browser?.close();
        await site?.close();
    });

    for (const kind of exactKinds) {
        it(`${kind}: four workers, up and down again, exact`, async () => {
            const seen = await tab.evaluate((kind) => {
                const { article, shared, adders } = /** @type {any} */ (globalThis);
                return article(shared, adders, kind);
            }, kind);
            assert.deepEqual(seen, { up: total, down: 0 });
        });

        it(`${kind}: workers, C++ threads and the page on one object, exact`, async () => {
            const value = await tab.evaluate(async (kind, adds) => {
                const { shared, adders, addersAll } = /** @type {any} */ (globalThis);
                const name = `together ${kind}`;
                const counter = shared.counter(name, { kind });
                const hammered = shared.hammer(counter, { threads: 2, adds, amount: 3 });
                const added = addersAll(adders, { name, kind, n: 2, adds });
                for (let i = 0; i < adds; i++) counter.add(5);
                await Promise.all([hammered, added]);
                return counter.value;
            }, kind, articleAdds);
            assert.equal(value, (2 * 3 + articleWorkers * 2 + 5) * articleAdds);
        });
    }

    it('unsynchronised: updates are seen to be lost', async () => {
        const seen = await tab.evaluate((tries) => {
            const { articleLoses, shared, adders } = /** @type {any} */ (globalThis);
            return articleLoses(shared, adders, tries);
        }, triesMax);
        assert.ok(seen, `not one update was lost in ${triesMax} tries`);
    });

    it('lockAsync on the page and blocking locks in workers: no update lost', async () => {
        const value = await tab.evaluate(async () => {
            const { shared, adders, addersAll } = /** @type {any} */ (globalThis);
            const [name, kind] = ['mixed', 'unsynchronised'];
            const mutex = { name: 'mixed mutex', how: 'lock' };
            const added = addersAll(adders, { name, kind, n: 1, adds: 2_000, mutex });
            const [counter, lock] = [shared.counter(name, { kind }), shared.mutex(mutex.name)];
            const tasks = [1, 2, 3].map(async () => {
                for (let i = 0; i < 100; i++) {
                    const held = await lock.lockAsync();
                    counter.add();
                    held.unlock();
                }
            });
            await Promise.all([added, ...tasks]);
            return counter.value;
        });
        assert.equal(value, articleWorkers * 2_000 + 300);
    });

    it('a blocking lock on the page is a typed error, and the page goes on', async () => {
        const seen = await tab.evaluate(async () => {
            const { shared, TabacusError } = /** @type {any} */ (globalThis);
            const lock = shared.mutex('blocking');
            const codes = [undefined, { timeout: 10 }].map((options) => {
                try {
                    return lock.lock(options);
                } catch (error) {
                    return error instanceof TabacusError && /** @type {any} */ (error).code;
                }
            });
            const held = await lock.lockAsync();
            const late = await lock.lockAsync({ timeout: 5 }).catch((/** @type {Error} */ error) => error.name);
            held.unlock();
            return { codes, late, free: lock.tryLock() };
        });
        assert.deepEqual(seen, { codes: ['would-block', 'would-block'], late: 'TimeoutError', free: true });
    });
});

describeIn(Object.values(ENGINES), 'Without isolation', (engine) => {
    it('threads() is a typed error that says what is missing', async () => {
        const site = await serveSite({ isolated: false });
        const browser = await engine.launch();
        try {
            const tab = await browser.openTab(site.page);
            const refused = tab.evaluate(async () => {
                const load = (/** @type {string} */ path) => import(path);
                const { threads } = await load('/dist/web/tabacus-threads.js');
                await threads();
            });
            await assert.rejects(refused, { code: 'unavailable', message: /cross-origin isolated/ });
        } finally {
            await browser.close();
            await site.close();
        }
    });
});
