/** What happens to a page whose files do not load, whose policies forbid what we use, or whose platform lacks it. */

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';

import { describeIn, ENGINES } from './harness/engines.js';
import { serveFaultySite } from './harness/faulty-site.js';

/**
 * Loads the package and leaves it, with what tries it, as globals of the page. In a page.
 *
 * @param {string} address
 */
async function load(address) {
    const page = /** @type {any} */ (globalThis);
    page.tabacus = await import(address);
    /** What a promise becomes, as text. @param {() => Promise<unknown>} call */
    page.outcome = async (call) => {
        try {
            return await call();
        } catch (error) {
            const { name, code, message } = /** @type {any} */ (error);
            return `${name} ${code}: ${message}`;
        }
    };
}

/** What nobody has caught. In a page. */
const uncaught = () => /** @type {any} */ (globalThis).uncaught;

/** Counts, locks and works a queue off. In a page. @param {string} namespace */
async function useAll(namespace) {
    const { tabacus } = /** @type {any} */ (globalThis);
    const tab = await tabacus.open({ namespace });
    tab.counter('visits').add(2);
    await tab.counter('visits').flush();
    const locked = await tab.lock('l').run(() => 'locked');
    const queue = tab.queue('q');
    queue.handle((/** @type {any} */ { payload }) => payload.n + 1);
    const { result } = await queue.enqueue({ n: 4 });
    const all = [await tab.counter('visits').read(), locked, await result, await tab.sequence('s').next()];
    await tab.close();
    return all;
}

const usedAll = [2, 'locked', 5, 1];

describeIn(Object.values(ENGINES), 'A page whose files do not load', (engine) => {
    /** @type {Awaited<ReturnType<typeof serveFaultySite>>} */
    let site;
    /** @type {import('./harness/engines.js').Browser} */
    let browser;
    before(async () => {
        site = await serveFaultySite();
        browser = await engine.launch();
    });
    after(async () => {
        await browser?.close();
        await site.close();
    });

    /** @param {import('./harness/faulty-site.js').FaultyPage} page */
    async function show(page) {
        const tab = await browser.openTab(page.url);
        await tab.evaluate(load, page.package);
        return tab;
    }

    /** @type {[import('./harness/faulty-site.js').Fault, RegExp][]} */
    const faults = [
        ['404', /the server answered 404; .*after a new deployment, reload the page/],
        ['html', /a page of HTML; probably a new deployment removed the file: reload the page/],
        ['junk', /4 bytes are no WebAssembly/],
        ['dropped', /no answer: the network failed, or connect-src/],
    ];

    it('says what is wrong with a wasm file, and works once the file is back', async () => {
        const page = site.page();
        const tab = await show(page);
        for (const [fault, expected] of faults) {
            page.fail(/\.wasm$/, fault);
            const failed = await tab.evaluate(() => {
                const { outcome, tabacus } = /** @type {any} */ (globalThis);
                return outcome(() => tabacus.open({ namespace: 'wasm-gone' }));
            });
            assert.match(failed, /^TabacusError unavailable: \w+\.wasm could not be loaded from http/);
            assert.match(failed, expected);
        }
        page.fail(undefined);
        assert.deepEqual(await tab.evaluate(useAll, 'wasm-gone'), usedAll);
        assert.deepEqual(await tab.evaluate(uncaught), []);
        await tab.close();
    });

    it('warns that a handler waits for its piece, and starts it when the piece is back', async () => {
        const page = site.page();
        const tab = await show(page);
        const warning = await tab.evaluate(async () => {
            const { tabacus } = /** @type {any} */ (globalThis);
            const own = await tabacus.open({ namespace: 'handler' });
            Object.assign(globalThis, { own });
            return own.capabilities.store;
        });
        assert.equal(warning, 'indexeddb');
        for (const back of ['online', 'visible']) {
            page.fail(/\.wasm$/);
            const told = await tab.evaluate(async (name) => {
                const { own } = /** @type {any} */ (globalThis);
                const warned = new Promise((resolve) =>
                    own.addEventListener('warning', (/** @type {any} */ { detail }) => resolve(detail), {
                        once: true,
                    }),
                );
                own.queue(name).handle((/** @type {any} */ { payload }) => `done ${payload}`);
                return warned;
            }, back);
            assert.equal(told.code, 'unavailable');
            assert.equal(told.subject, back);
            assert.match(told.message, /404.*begins when that is loaded$/);
            page.fail(undefined);
            await tab.evaluate((how) => {
                if (how === 'online') dispatchEvent(new Event('online'));
                else document.dispatchEvent(new Event('visibilitychange'));
            }, back);
            const other = await show(site.page());
            const result = await other.evaluate(async (name) => {
                const { tabacus } = /** @type {any} */ (globalThis);
                const its = await tabacus.open({ namespace: 'handler' });
                const done = await (await its.queue(name).enqueue(name)).result;
                await its.close();
                return done;
            }, back);
            assert.equal(result, `done ${back}`);
            await other.close();
            // The next turn needs a tab that has loaded nothing.
            await tab
                .evaluate(async () => {
                    const { own, tabacus } = /** @type {any} */ (globalThis);
                    await own.close();
                    Object.assign(globalThis, { own: await tabacus.open({ namespace: 'handler' }) });
                })
                .catch(() => {});
        }
        assert.deepEqual(await tab.evaluate(uncaught), []);
        await tab.close();
    });
});
