/** Tabs that show a page of the faulty site, and calls of the page's functions. */

import { after, before } from 'node:test';

import { serveFaultySite } from './faulty-site.js';

/**
 * Loads the package as a global of the page, beside a function that reports the outcome of a call. Runs in a page.
 *
 * @param {string} address
 */
async function load(address) {
    const page = /** @type {any} */ (globalThis);
    page.tabacus = await import(address);
    /** The outcome of a promise, as text. @param {() => Promise<unknown>} call */
    page.outcome = async (call) => {
        try {
            return await call();
        } catch (error) {
            const { name, code, message } = /** @type {any} */ (error);
            return `${name} ${code}: ${message}`;
        }
    };
}

/** The uncaught errors. Runs in a page. */
export const uncaught = () => /** @type {any} */ (globalThis).uncaught;

/**
 * @param {import('./engines.js').Engine} engine
 */
export function useFaultySite(engine) {
    /** @type {Awaited<ReturnType<typeof serveFaultySite>>} */
    let site;
    /** @type {import('./engines.js').Browser} */
    let browser;
    before(async () => {
        site = await serveFaultySite();
        browser = await engine.launch();
    });
    after(async () => {
        await browser?.close();
        await site.close();
    });
    return {
        /** @param {(csp: string) => string} [policy] */
        page: (policy) => site.page(policy),
        /**
         * Opens a tab that shows the page and has loaded the package.
         *
         * @param {import('./faulty-site.js').FaultyPage} page
         * @param {() => void} [prepare]  runs in the page before the package is loaded
         */
        async show(page, prepare = () => {}) {
            const tab = await browser.openTab(page.url);
            await tab.evaluate(prepare);
            await tab.evaluate(load, page.package);
            return tab;
        },
    };
}

/** Freezes the objects of the language, as a hardened page does. Runs in a page. */
export const freezeAll = () => {
    /** @type {Set<unknown>} */
    const seen = new Set();
    const names = Object.getOwnPropertyNames(globalThis).filter((name) =>
        /^(Object|Function|Array|String|Number|Boolean|Symbol|BigInt|Math|JSON|Reflect|Promise|(Weak)?(Map|Set|Ref)|Date|RegExp|Atomics|Intl|\w*Error|\w*Array|ArrayBuffer|DataView|Proxy|WebAssembly)$/.test(
            name,
        ),
    );
    const freeze = (/** @type {any} */ value) => {
        if (Object(value) !== value || seen.has(value)) return;
        seen.add(value);
        for (const one of Object.values(Object.getOwnPropertyDescriptors(value)))
            for (const part of [one.value, one.get, one.set]) freeze(part);
        freeze(Object.getPrototypeOf(value));
        Object.freeze(value);
    };
    for (const name of names) freeze(/** @type {any} */ (globalThis)[name]);
};
