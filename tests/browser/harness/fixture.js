/** A browser with the page under test, or with the demo, for one suite. It is closed even if the suite fails. */

import { after, before } from 'node:test';

import { serveDemo } from '../../../web/demo.js';
import { call } from './commands.js';
import { serveSite } from './site.js';

/**
 * @template {{ close(): Promise<unknown> }} Server
 * @param {import('./engines.js').Engine} engine
 * @param {() => Promise<Server>} serve
 * @returns {{ readonly server: Server, readonly browser: import('./engines.js').Browser }} defined while the suite runs
 */
export function useBoth(engine, serve) {
    /** @type {Server} */
    let server;
    /** @type {import('./engines.js').Browser} */
    let browser;
    before(async () => {
        server = await serve();
        browser = await engine.launch();
    });
    after(async () => {
        await browser?.close();
        await server.close();
    });
    return {
        get server() {
            return server;
        },
        get browser() {
            return browser;
        },
    };
}

/**
 * @param {import('./engines.js').Engine} engine
 * @param {{ isolated?: boolean, page?: string, earlier?: string }} [options]  `page`: the page that its tabs show by
 *   default; `earlier`: as in serveSite()
 */
export function useBrowser(engine, { isolated = true, page: usual = '', earlier = '' } = {}) {
    const both = useBoth(engine, () => serveSite({ isolated, earlier }));
    let lastNamespace = 0;
    return {
        get site() {
            return both.server;
        },
        /** A namespace that no other test uses. */
        namespace: () => `suite-${++lastNamespace}`,
        /** A tab that shows the page. */
        openTab: (page = usual) =>
            both.browser.openTab(page ? `${both.server.url}/${page}` : both.server.page),
        /**
         * A tab with an open namespace.
         *
         * @param {import('tabacus').OpenOptions} options
         */
        openIn: async (options) => {
            const tab = await both.browser.openTab(both.server.page);
            await call(tab, 'open', options);
            return tab;
        },
    };
}

/**
 * @param {import('./engines.js').Engine} engine
 * @param {{ isolated?: boolean }} [options]
 */
export function useDemo(engine, { isolated = true } = {}) {
    const both = useBoth(engine, () => serveDemo({ isolated, port: 0 }));
    return {
        get url() {
            return both.server.url;
        },
        /** The library that serves the reader. */
        get library() {
            return both.server.library;
        },
        /** @param {string} [page] its address within the demo */
        openTab: (page = '') => both.browser.openTab(page ? `${both.server.url}/${page}` : both.server.url),
    };
}

/** @param {import('./tab.js').Tab[]} tabs */
export const closeAll = (tabs) => Promise.all(tabs.map((tab) => tab.close()));
