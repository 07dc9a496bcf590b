/** Clones that IndexedDB keeps. */

/**
 * A structured clone of a value, for storage (HTML §2.7.3): what IndexedDB would refuse within a transaction, which
 * fails as a whole then, is refused before.
 *
 * @param {unknown} value
 * @returns {any}
 * @throws {DOMException} `DataCloneError`
 */
export function storable(value) {
    const clone = structuredClone(value);
    const seen = new Set([clone]);
    // What is added while it goes on is looked at, too.
    for (const one of seen) {
        if (typeof one !== 'object' || one === null) continue;
        const what = Object.prototype.toString.call(one).slice('[object '.length, -1);
        if (refused.has(what)) throw new DOMException(`${what} cannot be stored`, 'DataCloneError');
        for (const inner of within(one)) seen.add(inner);
    }
    return clone;
}

/** What can be cloned for another thread, and not for storage. */
const refused = new Set([
    ...['SharedArrayBuffer', 'WebAssembly.Memory', 'WebAssembly.Module'],
    ...['MessagePort', 'ReadableStream', 'WritableStream', 'TransformStream'],
    ...['VideoFrame', 'AudioData', 'EncodedVideoChunk', 'EncodedAudioChunk', 'CropTarget', 'RestrictionTarget'],
]);

/** @param {string[]} kinds that this browser does not store, either */
export function refuse(...kinds) {
    for (const kind of kinds) refused.add(kind);
}

/** @param {any} object of a clone: it has no getters @returns {Iterable<unknown>} */
function within(object) {
    if (ArrayBuffer.isView(object)) return [object.buffer];
    if (object instanceof Map) return [...object].flat();
    // Their `cause` and `errors` are not enumerable.
    if (object instanceof Error) return Object.getOwnPropertyNames(object).map((name) => /** @type {any} */ (object)[name]);
    return object instanceof Set ? object : Object.values(object);
}
