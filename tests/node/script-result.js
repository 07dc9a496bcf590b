/** Runs a script in a tab of the emulator, for the tests of what a page may do. */

import { createOrigin } from 'tabacus/emulator';

/** The time after which a test that hangs fails. */
const timeoutMs = 3_000;

/**
 * What a script in a tab resolves with, and the errors that nobody handled, after the origin has settled.
 *
 * @param {string} script
 * @param {object} [options]
 */
export async function resultOf(script, options) {
    const origin = await createOrigin(options);
    const tab = origin.openTab();
    /** @type {unknown[]} */
    const uncaught = [];
    origin.uncaught = (error) => uncaught.push(error);
    const value = tab.run(`new Promise((resolve) => { ${script} })`);
    const result = await Promise.race([
        value,
        new Promise((resolve) => setTimeout(resolve, timeoutMs, 'no result')),
    ]);
    await origin.settled();
    origin.close();
    return { result, uncaught };
}
