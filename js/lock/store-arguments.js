/** Checks of what the callers of a fenced write pass: names of stores, keys and values. */

import { invalid, TabacusError } from '../common/errors.js';
import { isWellFormed } from '../common/well-formed.js';
import { storable } from '../host/storable.js';

/** Stores of our own. */
const reserved = 'tabacus/';

/**
 * @param {unknown} stores
 * @returns {string[]} a name or names, as an array
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
 * @param {string} argument
 * @param {unknown} value
 * @returns {string}
 */
export function checkKey(argument, value) {
    const good =
        typeof value === 'string' && value.length <= 1024 && !value.includes('\0') && isWellFormed(value);
    if (!good)
        throw invalid(argument, value, 'a well-formed string of at most 1024 UTF-16 units without U+0000');
    return value;
}

/**
 * @param {string} argument
 * @param {unknown} value
 */
export function cloned(argument, value) {
    try {
        if (value !== undefined) return storable(value);
    } catch (error) {
        if (error instanceof TabacusError) throw error;
    }
    throw invalid(argument, value, 'a value that can be cloned for storage (structuredClone, IndexedDB)');
}
