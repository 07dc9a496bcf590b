/** Checks of the arguments of fenced writes: names of stores, keys and values. */

import { invalid, TabacusError } from '../common/errors.js';
import { isWellFormed } from '../common/well-formed.js';
import { storable } from '../host/storable.js';

/** The names of tabacus' own stores begin with this. */
const reserved = 'tabacus/';

/**
 * Checks one name of a store, or an array of names.
 *
 * @param {unknown} stores
 * @returns {string[]} an array in either case
 * @throws {TabacusError} `invalid-argument`
 */
export function checkStores(stores) {
    const names = typeof stores === 'string' ? [stores] : stores;
    if (!Array.isArray(names) || names.length === 0)
        throw invalid('stores', stores, 'a name or an array of names');
    for (const store of names) {
        if (checkKey('stores', store).startsWith(reserved))
            throw invalid('stores', store, `a name that does not begin with ${reserved}`);
    }
    return [...names];
}

/**
 * Checks a key or the name of a store.
 *
 * @param {string} argument its name in error messages
 * @param {unknown} value
 * @returns {string}
 * @throws {TabacusError} `invalid-argument`
 */
export function checkKey(argument, value) {
    const good =
        typeof value === 'string' && value.length <= 1024 && !value.includes('\0') && isWellFormed(value);
    if (!good)
        throw invalid(argument, value, 'a well-formed string of at most 1024 UTF-16 units without U+0000');
    return value;
}

/**
 * Returns a clone of a value that a store can keep.
 *
 * @param {string} argument its name in error messages
 * @param {unknown} value
 * @throws {TabacusError} `invalid-argument` if it is undefined or cannot be cloned
 */
export function cloned(argument, value) {
    try {
        if (value !== undefined) return storable(value);
    } catch (error) {
        if (error instanceof TabacusError) throw error;
    }
    throw invalid(argument, value, 'a value that can be cloned for storage (structuredClone, IndexedDB)');
}
