/** Opens the pages of the benchmarks in one Chromium, on an isolated origin with the strict policy. */

import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

import { ENGINES } from '../../tests/browser/harness/engines.js';
import { createServer } from '../../web/server.js';

/** @param {string} path */
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

export const DIST = here('../../dist');
const MODULES = here('../../build/wasm-threads/web');

/** The folder with the peers that are bundled for pages. */
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

/** Calls a function of the page; this one runs in the page. @param {string} name @param {unknown[]} args */
const callPage = (name, args) => /** @type {any} */ (globalThis).bench[name](...args);

/**
 * Calls a function that a page of bench/page defines in `bench`.
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

/** Bundles the packages with which tabacus is compared in a page, as modules. */
const bundlePeers = () =>
    build({
        entryPoints: ['async-mutex', 'browser-tabs-lock', 'p-queue'],
        bundle: true,
        format: 'esm',
        minify: true,
        outdir: PEERS,
    });

/** A description of the machine and the browser. @param {ChromiumBrowser} browser */
export async function machine(browser) {
    const { product } = await browser.cdp.send('Browser.getVersion');
    const all = cpus();
    const version = product.replace(/.*\//, 'Chromium ');
    return { browser: version, node: process.version, cpu: all[0]?.model ?? 'unknown', cores: all.length };
}
