/** The package in a page of each bundler, and in one without a bundler, under a strict content security policy. */

import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

import { describeIn, ENGINES } from '../browser/harness/engines.js';
import { createServer } from '../../web/server.js';
import { BARE_IMPORTS, BUNDLERS, writeApp } from './bundlers.js';
import { install } from './package.js';

/** @typedef {import('../browser/harness/chromium.js').ChromiumTab} ChromiumTab */

const CSP = "script-src 'self' 'wasm-unsafe-eval'";

const ADDS = 1000;

/** Calls a function of the page. Runs in the page. @param {string} name @param {unknown[]} args */
const callPage = (name, args) => /** @type {any} */ (globalThis).page[name](...args);

/** @param {ChromiumTab} tab @param {string} name @param {unknown[]} args */
const call = (tab, name, ...args) => tab.evaluate(callPage, name, args);

describeIn([ENGINES.chromium], 'The installed package', (engine) => {
    /** @type {import('./package.js').Installed} */
    let installed;
    /** @type {import('../browser/harness/engines.js').Browser} */
    let browser;

    before(async () => {
        [installed, browser] = await Promise.all([install(), engine.launch()]);
        await writeApp(installed);
    });
    after(async () => {
        await browser?.close();
        await installed?.remove();
    });

    for (const [name, build] of Object.entries(BUNDLERS)) {
        describe(name, () => {
            /** @type {import('./bundlers.js').Built} */
            let built;
            /** @type {import('../../web/server.js').Server} */
            let server;

            before(async () => {
                built = await build(installed);
                const mounts = {
                    '/': built.folder,
                    '/node_modules': `${installed.folder}/node_modules`,
                    '/idle-worker.js': new URL('../browser/page/idle-worker.js', import.meta.url),
                };
                server = await createServer({ mounts, csp: CSP });
            });
            after(() => server?.close());

            const openTab = async () => /** @type {ChromiumTab} */ (await browser.openTab(`${server.url}/`));

            it('the bundler emits no warning', () => assert.deepEqual(built.warnings, []));

            it('a counter is exact in two tabs of two processes', async () => {
                const tabs = [await openTab(), await openTab()];
                const consoles = await Promise.all(tabs.map((tab) => tab.console()));
                const counted = await Promise.all(tabs.map((tab) => call(tab, 'count', ADDS)));
                for (const { store } of counted) assert.equal(store, 'indexeddb');
                for (const tab of tabs) assert.equal(await call(tab, 'read'), 2 * ADDS);
                const [first, second] = [await tabs[0]?.pid(), await tabs[1]?.pid()];
                assert.notEqual(first, second);
                assert.deepEqual(consoles.flat(), []);
                for (const tab of tabs) await tab.close();
            });

            it('counters with strategies of the catalogue count', async () => {
                const tab = await openTab();
                const logged = await tab.console();
                assert.deepEqual(await call(tab, 'countOtherwise', 5), [5, 5]);
                assert.deepEqual(logged, []);
                await tab.close();
            });

            it('adds under a lock are exact', async () => {
                const tab = await openTab();
                const logged = await tab.console();
                assert.equal(await call(tab, 'countUnderLock', 5), 5);
                assert.deepEqual(logged, []);
                await tab.close();
            });

            it('a shared counter is exact in threads and in a bundled Worker', async () => {
                const tab = await openTab();
                const logged = await tab.console();
                assert.equal(await call(tab, 'countInThreads', ADDS), 4 * ADDS);
                assert.deepEqual(logged, []);
                await tab.close();
            });
        });
    }
});

describe('Imports for their effect alone', () => {
    /** @type {import('./package.js').Installed} */
    let installed;
    before(async () => {
        installed = await install();
    });
    after(() => installed?.remove());

    /** For each module with side effects, a word that occurs only in the code of those effects. */
    const effects = { 'service-worker': 'coordination', polyfill: 'LockManager' };

    for (const [bundler, bundle] of Object.entries(BARE_IMPORTS)) {
        for (const [path, sign] of Object.entries(effects)) {
            it(`the effect of importing tabacus/${path} survives ${bundler}`, async () => {
                const entry = join(installed.folder, 'src', `${path}-${bundler}.js`);
                const file = join(installed.folder, 'bare', bundler, `${path}.js`);
                await writeFile(entry, `import 'tabacus/${path}';\n`);
                await bundle(entry, file);
                assert.ok((await readFile(file, 'utf8')).includes(sign), `${sign} is dropped`);
            });
        }
    }
});
