/** Finds out which values that can be cloned this browser's IndexedDB does not store. */

import { isFirefox, isWebKit } from './browser-engine.js';
import { attempt } from './failure.js';
import { data } from './schema.js';
import { admit, refuse } from './storable.js';

/** @typedef {import('./database.js').DatabaseHost} DatabaseHost */

/** The test of WebKit, if it has been made or is being made. @type {Promise<void> | undefined} */
let asked;

const blobs = ['Blob', 'File', 'FileList'];

/**
 * Makes storable() refuse the values that this browser does not store. Firefox (153, measured) stores no
 * ImageBitmap. WebKit (2.50, measured) stores no Blob in a private window. It reports that after the call,
 * and if the transaction has another pending request, the transaction never ends and blocks all others. So
 * one Blob is written, once, in a transaction that contains nothing else; until that has ended, Blobs are
 * refused.
 *
 * @param {import('./host.js').Platform} platform
 * @param {DatabaseHost} database
 * @returns {Promise<void>} resolves when the browser has been tested
 */
export async function learnStorable(platform, database) {
    if (isFirefox(platform)) refuse(['ImageBitmap']);
    if (isWebKit(platform)) await learnBlobs(database);
}

/** Tests, once, whether the database stores Blobs. @param {DatabaseHost} database */
function learnBlobs(database) {
    asked ??= askForBlobs(database).then((answer) => {
        if (answer === 'stored') return admit(blobs);
        if (answer === 'DataCloneError') return refuse(blobs);
        asked = undefined;
        // The disk is full, so the test says nothing about Blobs. They are admitted, because the browser
        // reports a full disk in time, whatever else the transaction contains.
        if (answer === 'QuotaExceededError') return admit(blobs);
        // An UnknownError comes from a private window, or from a disk that fails: the next Blob repeats the
        // test.
        refuse(blobs, () => void learnBlobs(database));
    });
    return asked;
}

/**
 * Writes a Blob into the database, and aborts the transaction.
 *
 * @param {DatabaseHost} database
 * @returns {Promise<string | undefined>} `stored`, or the name of the error; undefined if there was no
 *   transaction
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
