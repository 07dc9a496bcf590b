/** Clones that IndexedDB keeps. */

import { requirePlatform } from '../common/require-platform.js';

/**
 * A structured clone of a value, for storage (HTML §2.7.3): what IndexedDB would refuse within a transaction, which
 * fails as a whole then, is refused before.
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
    // What is added while it goes on is looked at, too.
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

/** What can be cloned and is not stored, each with what is called when one was met. @type {Map<string, () => void>} */
const refused = new Map();

/**
 * @param {string[]} kinds that this browser does not store
 * @param {() => void} [met] called when one is refused
 */
export function refuse(kinds, met = () => {}) {
    for (const kind of kinds) refused.set(kind, met);
}

/** @param {string[]} kinds that it stores */
export function admit(kinds) {
    for (const kind of kinds) refused.delete(kind);
}

// What is for other threads.
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

/** @param {any} object of a clone: it has no getters @returns {Iterable<unknown>} */
function within(object) {
    if (ArrayBuffer.isView(object)) return [object.buffer];
    if (object instanceof Map) return [...object].flat();
    // Their `cause` and `errors` are not enumerable.
    if (object instanceof Error)
        return Object.getOwnPropertyNames(object).map((name) => /** @type {any} */ (object)[name]);
    return object instanceof Set ? object : Object.values(object);
}
