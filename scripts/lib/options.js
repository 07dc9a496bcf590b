/** Reads the options of a script's command line. A bad option ends the script with one line. */

import { parseArgs } from 'node:util';

/** @typedef {NonNullable<import('node:util').ParseArgsConfig['options']>} Options */

/**
 * @template {Options} T
 * @param {T} options  the options that the script knows, as parseArgs() takes them
 * @returns {ReturnType<typeof parseArgs<{ options: T }>>['values']}
 */
export function optionsOf(options) {
    try {
        return parseArgs({ options }).values;
    } catch (error) {
        refuse(/** @type {Error} */ (error).message);
    }
}

/** Prints a message and ends the process with exit code 2. @param {string} message @returns {never} */
export function refuse(message) {
    console.error(`✗ ${message}`);
    process.exit(2);
}
