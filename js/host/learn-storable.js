/** What else this browser's IndexedDB does not keep: asked of it where it must be. */

import { isFirefox, isWebKit } from './engine.js';
import { attempt } from './failure.js';
import { data } from './schema.js';
import { refuse } from './storable.js';

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
    if (isFirefox(platform)) refuse('ImageBitmap');
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
    request.onerror = () => refuse('Blob', 'File', 'FileList');
}
