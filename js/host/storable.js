/** Clones that IndexedDB keeps. */

import { isFirefox, isWebKit } from './engine.js';
import { attempt } from './failure.js';
import { data } from './schema.js';

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
    ...['SharedArrayBuffer', 'WebAssembly.Module', 'MessagePort', 'ReadableStream', 'WritableStream', 'TransformStream'],
    ...['VideoFrame', 'AudioData', 'EncodedVideoChunk', 'EncodedAudioChunk', 'CropTarget', 'RestrictionTarget'],
]);

/** Whether WebKit has been asked, or is being asked. @type {Promise<void> | undefined} */
let asked;

/**
 * So that storable() knows this browser's own. Firefox (153, measured) stores no ImageBitmap. WebKit (2.50, measured)
 * stores no Blob in a private window: it tells so after the call, and where another request was under way the
 * transaction never ends, and keeps all others waiting. So it is asked, once, in a transaction that holds nothing else.
 *
 * @param {import('./host.js').Platform} platform
 * @param {import('./database.js').DatabaseHost} database
 * @returns {Promise<void>} when it is known
 */
export async function learnStorable(platform, database) {
    if (isFirefox(platform)) refused.add('ImageBitmap');
    if (isWebKit(platform)) await (asked ??= new Promise((resolve) => database.use((connection) => askForBlobs(connection, resolve))));
}

/**
 * @param {IDBDatabase | undefined} connection
 * @param {() => void} done
 */
function askForBlobs(connection, done) {
    if (!connection) return done();
    const transaction = attempt(() => connection.transaction(data, 'readwrite'));
    if (!transaction) return done(); // the connection is closed
    transaction.oncomplete = transaction.onabort = done;
    const request = transaction.objectStore(data).put(new Blob(['?']), '?');
    request.onsuccess = () => transaction.abort();
    request.onerror = () => {
        for (const kind of ['Blob', 'File', 'FileList']) refused.add(kind);
    };
}

/** @param {any} object of a clone: it has no getters @returns {Iterable<unknown>} */
function within(object) {
    if (ArrayBuffer.isView(object)) return [object.buffer];
    if (object instanceof Map) return [...object].flat();
    return object instanceof Set ? object : Object.values(object);
}
