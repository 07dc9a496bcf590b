/** Scenarios that are modules: which argument is the address of one, and what such a module exports. */

import { invalid, TabacusError } from '../common/errors.js';
import { describe } from './common/describe.js';

/** @typedef {import('./plan.js').Plan} Plan */

/** @typedef {Pick<Plan, 'scenario'> & Partial<Pick<Plan, 'setup' | 'invariant'>>} Exports what its module exports */

/** An address is one word, and so is hardly a script. */
const address = /^(file|https?):\/\/\S+$/;

/**
 * The address of a scenario's module.
 *
 * @param {unknown} scenario
 * @returns {string | undefined} undefined if the scenario is a function or a script
 */
export function moduleAddress(scenario) {
    // A test runner may have a URL of another realm.
    if (Object.prototype.toString.call(scenario) === '[object URL]') return String(scenario);
    return typeof scenario === 'string' && address.test(scenario) ? scenario : undefined;
}

/**
 * Imports a scenario's module.
 *
 * @param {string} url
 * @returns {Promise<Exports>}
 * @throws {TabacusError} `invalid-argument` if it cannot be imported, or exports no scenario
 */
export async function importScenario(url) {
    const { scenario, setup, invariant, default: main } = await imported(url);
    const found = scenario ?? main;
    if (typeof found !== 'function' && typeof found !== 'string')
        throw invalid('scenario', url, 'the URL of a module that exports `scenario`, a function or a string');
    for (const [name, value] of Object.entries({ setup, invariant })) {
        if (value !== undefined && typeof value !== 'function')
            throw invalid(
                'scenario',
                url,
                `the URL of a module whose export \`${name}\`, if any, is a function`,
            );
    }
    return { scenario: found, ...(setup && { setup }), ...(invariant && { invariant }) };
}

/** @param {string} url @returns {Promise<any>} */
async function imported(url) {
    try {
        return await import(/* webpackIgnore: true */ /* @vite-ignore */ url);
    } catch (cause) {
        if (
            Object(cause).code === 'ERR_UNKNOWN_FILE_EXTENSION' &&
            /\.[cm]?tsx?$/.test(new URL(url).pathname)
        ) {
            const cure = 'run it with Node.js 22.18 or 23.6, or a later one, or compile it to JavaScript';
            throw new TabacusError('unavailable', `this host cannot import TypeScript (${url}): ${cure}`, {
                cause,
            });
        }
        const allowed = 'the URL of a module that can be imported';
        throw new TabacusError(
            'invalid-argument',
            `the scenario ${url} cannot be imported: ${describe(cause)}`,
            {
                ...{ argument: 'scenario', value: url, allowed, cause },
            },
        );
    }
}
