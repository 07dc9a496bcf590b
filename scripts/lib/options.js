/** What a script is asked for on its command line: a bad option ends it with one line. */

import { parseArgs } from 'node:util';

/** @typedef {NonNullable<import('node:util').ParseArgsConfig['options']>} Options */

/**
 * @template {Options} T
 * @param {T} options  as parseArgs() has them
 * @returns {ReturnType<typeof parseArgs<{ options: T }>>['values']}
 */
export function optionsOf(options) {
    try {
        return parseArgs({ options }).values;
    } catch (error) {
        refuse(/** @type {Error} */ (error).message);
    }
}

/** @param {string} message @returns {never} */
export function refuse(message) {
    console.error(`✗ ${message}`);
    process.exit(2);
}
