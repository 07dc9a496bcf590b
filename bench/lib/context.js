/** The pages of the benchmarks, in one Chromium on one origin with isolation and the strict policy. */

import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

import { ENGINES } from '../../tests/browser/harness/engines.js';
import { createServer } from '../../web/server.js';

/** @param {string} path */
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export const DIST = here('../../dist');
const MODULES = here('../../build/wasm-threads/web');

/** Where peers are that are bundled for a page. */
export const PEERS = here('../../build/peers');

/** @typedef {import('../../tests/browser/harness/chromium.js').ChromiumBrowser} ChromiumBrowser */
/** @typedef {import('../../tests/browser/harness/chromium.js').ChromiumTab} Tab */

/**
 * @typedef {object} Context
 * @property {(page: string, options?: { isolated?: boolean }) => Promise<Tab>} openTab
 * @property {{ isolated: Server, plain: Server }} servers
 * @property {ChromiumBrowser} browser
 *
 * @typedef {import('../../web/server.js').Server} Server
 */

/** Runs in the page. @param {string} name @param {unknown[]} args */
const callPage = (name, args) => /** @type {any} */ (globalThis).bench[name](...args);

/**
 * One of the functions that a page of bench/page offers.
 *
 * @param {Tab} tab @param {string} name @param {unknown[]} args
 * @returns {Promise<any>}
 */
export const call = (tab, name, ...args) => tab.evaluate(callPage, name, args);

/**
 * @template T
 * @param {(context: Context) => Promise<T>} body
 * @returns {Promise<T>}
 */
export async function inChromium(body) {
    const mounts = { '/': here('../page'), '/dist': DIST, '/modules': MODULES, '/peers': PEERS };
    await bundlePeers();
    const isolated = await createServer({ mounts });
    const plain = await createServer({ mounts, isolated: false });
    const browser = /** @type {ChromiumBrowser} */ (await ENGINES.chromium.launch());
    try {
        return await body({
            servers: { isolated, plain },
            browser,
            openTab: (page, { isolated: wanted = true } = {}) =>
                browser.openTab(`${(wanted ? isolated : plain).url}/${page}`),
        });
    } finally {
        await browser.close();
        await Promise.all([isolated.close(), plain.close()]);
    }
}

/** The packages beside which ours is measured in a page, as modules. */
const bundlePeers = () =>
    build({
        entryPoints: ['async-mutex', 'browser-tabs-lock', 'p-queue'],
        bundle: true,
        format: 'esm',
        minify: true,
        outdir: PEERS,
    });

/** What the figures were measured on. @param {ChromiumBrowser} browser */
export async function machine(browser) {
    const { product } = await browser.cdp.send('Browser.getVersion');
    const all = cpus();
    const version = product.replace(/.*\//, 'Chromium ');
    return { browser: version, node: process.version, cpu: all[0]?.model ?? 'unknown', cores: all.length };
}
