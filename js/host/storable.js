/** Structured clones that IndexedDB can store. */

import { requirePlatform } from '../common/require-platform.js';

/**
 * Returns a structured clone of a value, for storage (HTML §2.7.3). Throws if IndexedDB would refuse the
 * value, so that it is refused before it is part of a transaction, which would fail as a whole.
 *
 * @param {unknown} value
 * @returns {any}
 * @throws {DOMException} `DataCloneError`
 * @throws {import('../common/errors.js').TabacusError} `unavailable`
 */
export function storable(value) {
    requirePlatform('storing this value', ['structuredClone']);
    const clone = structuredClone(value);
    const seen = new Set([clone]);
    // The loop also visits the values that are added to the set meanwhile.
    for (const one of seen) {
        if (typeof one !== 'object' || one === null) continue;
        const what = Object.prototype.toString.call(one).slice('[object '.length, -1);
        const met = refused.get(what);
        if (met) {
            met();
            throw new DOMException(`${what} cannot be stored`, 'DataCloneError');
        }
        for (const inner of within(one)) seen.add(inner);
    }
    return clone;
}

/**
 * The classes that can be cloned but not stored, each with a function that is called when a value of it is
 * refused.
 * @type {Map<string, () => void>}
 */
const refused = new Map();

/**
 * Makes storable() refuse values of some classes.
 *
 * @param {string[]} kinds the names of the classes
 * @param {() => void} [met] called when such a value is refused
 */
export function refuse(kinds, met = () => {}) {
    for (const kind of kinds) refused.set(kind, met);
}

/** Makes storable() accept values of some classes. @param {string[]} kinds the names of the classes */
export function admit(kinds) {
    for (const kind of kinds) refused.delete(kind);
}

// These can be cloned for another thread, but not for storage.
refuse(['SharedArrayBuffer', 'WebAssembly.Memory', 'WebAssembly.Module']);
refuse(['MessagePort', 'ReadableStream', 'WritableStream', 'TransformStream']);
refuse([
    'VideoFrame',
    'AudioData',
    'EncodedVideoChunk',
    'EncodedAudioChunk',
    'CropTarget',
    'RestrictionTarget',
]);

/**
 * Returns the values within an object of a clone, which has no getters.
 *
 * @param {any} object
 * @returns {Iterable<unknown>}
 */
function within(object) {
    if (ArrayBuffer.isView(object)) return [object.buffer];
    if (object instanceof Map) return [...object].flat();
    // The properties `cause` and `errors` are not enumerable.
    if (object instanceof Error)
        return Object.getOwnPropertyNames(object).map((name) => /** @type {any} */ (object)[name]);
    return object instanceof Set ? object : Object.values(object);
}
