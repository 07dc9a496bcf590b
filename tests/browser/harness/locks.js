/** The operations of the suites of locks in a page: to open a namespace, and to hold the lock `l` there. */

/** @typedef {import('./tab.js').Tab} Tab */
/** @typedef {ReturnType<typeof import('./fixture.js').useBrowser>} Fixture */

/**
 * @param {Fixture} browser
 * @param {string} namespace
 * @param {{ withoutLocks?: boolean }} [options]
 */
export async function openLocks(browser, namespace, options = {}) {
    const tab = await browser.openTab();
    await tab.evaluate(
        async (name, more) => {
            const { open } = await import(/** @type {any} */ ('/dist/web/tabacus.js'));
            const page = /** @type {any} */ (globalThis);
            if (more.withoutLocks) Object.defineProperty(navigator, 'locks', { value: undefined });
            page.tab = await open({ namespace: name });
            page.held = {};
        },
        namespace,
        options,
    );
    return tab;
}

/**
 * Takes the lock `l` and keeps it as `held[as]`.
 *
 * @param {Tab} tab
 * @param {string} as
 * @param {object} [options]
 * @returns {Promise<number>} its token
 */
export const take = (tab, as, options = {}) =>
    tab.evaluate(
        async (key, asked) => {
            const page = /** @type {any} */ (globalThis);
            page.held[key] = await page.tab.lock('l').acquire(asked);
            return page.held[key].token;
        },
        as,
        options,
    );

/**
 * Waits until at least `requests` requests hold the lock `l` or wait for it.
 *
 * @param {Tab} tab
 * @param {number} requests
 */
export const whenQueued = (tab, requests) =>
    tab.evaluate(async (least) => {
        const { tab: locks } = /** @type {any} */ (globalThis);
        while ((await locks.lock('l').query()).length < least)
            await new Promise((turn) => setTimeout(turn, 5));
    }, requests);

/**
 * Tries to write under the handle `held[as]`, a number of times.
 *
 * @param {Tab} tab
 * @param {string} as
 * @param {number} times
 * @returns {Promise<number>} the number of refused writes
 */
export const refusedWrites = (tab, as, times) =>
    tab.evaluate(
        async (key, tries) => {
            const held = /** @type {any} */ (globalThis).held[key];
            let refused = 0;
            for (let i = 0; i < tries; i++) {
                await held
                    .commit('s', (/** @type {any} */ tx) => tx.put('s', 'k', 'late'))
                    .catch((/** @type {any} */ error) => {
                        if (['lock-lost', 'fenced'].includes(error.code)) refused++;
                        else throw error;
                    });
            }
            return refused;
        },
        as,
        times,
    );

/** Writes `text` under the lock `l`, and returns the previous text. @param {Tab} tab @param {string} text */
export const write = (tab, text) =>
    tab.evaluate(
        (value) =>
            /** @type {any} */ (globalThis).tab.lock('l').run((/** @type {any} */ held) =>
                held.commit('s', async (/** @type {any} */ tx) => {
                    const before = await tx.get('s', 'k');
                    tx.put('s', 'k', value);
                    return before;
                }),
            ),
        text,
    );
