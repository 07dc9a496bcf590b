/** A browser with the page under test, or with the demo, for one suite, ended after it however the suite ends. */

import { after, before } from 'node:test';

import { serveDemo } from '../../../web/demo.js';
import { call } from './commands.js';
import { serveSite } from './site.js';

/**
 * @param {import('./engines.js').Engine} engine
 * @param {{ isolated?: boolean, page?: string }} [options]
 */
export function useBrowser(engine, { isolated = true, page = '' } = {}) {
    /** @type {Awaited<ReturnType<typeof serveSite>>} */
    let site;
    /** @type {import('./engines.js').Browser} */
    let browser;
    let lastNamespace = 0;

    before(async () => {
        site = await serveSite({ isolated });
        browser = await engine.launch();
    });
    after(async () => {
        await browser?.close();
        await site.close();
    });

    return {
        get site() {
            return site;
        },
        /** A namespace that no other test has touched. */
        namespace: () => `suite-${++lastNamespace}`,
        /** A tab that shows the page. */
        openTab: () => browser.openTab(page ? `${site.url}/${page}` : site.page),
        /**
         * A tab with an open namespace.
         *
         * @param {import('tabacus').OpenOptions} options
         */
        openIn: async (options) => {
            const tab = await browser.openTab(site.page);
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
    /** @type {Awaited<ReturnType<typeof serveDemo>>} */
    let server;
    /** @type {import('./engines.js').Browser} */
    let browser;

    before(async () => {
        server = await serveDemo({ isolated, port: 0 });
        browser = await engine.launch();
    });
    after(async () => {
        await browser?.close();
        await server.close();
    });

    return {
        get url() {
            return server.url;
        },
        /** What the reader is served by. */
        get library() {
            return server.library;
        },
        /** @param {string} [page] from the demo's top */
        openTab: (page = '') => browser.openTab(page ? `${server.url}/${page}` : server.url),
    };
}

/** @param {import('./tab.js').Tab[]} tabs */
export const closeAll = (tabs) => Promise.all(tabs.map((tab) => tab.close()));
