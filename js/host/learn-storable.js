/** What else this browser's IndexedDB does not keep: asked of it where it must be. */

import { isFirefox, isWebKit } from './browser-engine.js';
import { attempt } from './failure.js';
import { data } from './schema.js';
import { admit, refuse } from './storable.js';

/** @typedef {import('./database.js').DatabaseHost} DatabaseHost */

/** Whether WebKit has been asked, or is being asked. @type {Promise<void> | undefined} */
let asked;

const blobs = ['Blob', 'File', 'FileList'];

/**
 * So that storable() knows this browser's own. Firefox (153, measured) stores no ImageBitmap. WebKit (2.50, measured)
 * stores no Blob in a private window: it reports that after the call, and where another request was under way the
 * transaction never ends, and keeps all others waiting. So it is asked, once, in a transaction that holds nothing else;
 * and while that has no answer, Blobs are refused.
 *
 * @param {import('./host.js').Platform} platform
 * @param {DatabaseHost} database
 * @returns {Promise<void>} when it was asked
 */
export async function learnStorable(platform, database) {
    if (isFirefox(platform)) refuse(['ImageBitmap']);
    if (isWebKit(platform)) await learnBlobs(database);
}

/** @param {DatabaseHost} database */
function learnBlobs(database) {
    asked ??= askForBlobs(database).then((answer) => {
        if (answer === 'stored') return admit(blobs);
        if (answer === 'DataCloneError') return refuse(blobs);
        asked = undefined;
        // A full disk is reported in time, and for whatever is stored beside it: the store itself may refuse the Blob.
        if (answer === 'QuotaExceededError') return admit(blobs);
        // A private window gives an UnknownError, as does one whose disk fails: the next Blob asks again.
        refuse(blobs, () => void learnBlobs(database));
    });
    return asked;
}

/**
 * @param {DatabaseHost} database
 * @returns {Promise<string | undefined>} `stored`, or the name of the error; undefined: it could not be asked
 */
const askForBlobs = (database) =>
    new Promise((answer) =>
        database.use((connection) => {
            const transaction = attempt(() => connection?.transaction(data, 'readwrite'));
            const request = attempt(() => transaction?.objectStore(data).put(new Blob(['?']), '?'));
            if (!transaction || !request) return answer(undefined); // the connection is closed
            /** @type {string | undefined} */
            let outcome;
            request.onsuccess = () => {
                outcome = 'stored';
                transaction.abort();
            };
            request.onerror = () => void (outcome = request.error?.name);
            transaction.oncomplete = transaction.onabort = () => answer(outcome);
        }),
    );
