/** How the host finds out whether WebKit stores Blobs, and which values it refuses until then, over a fake database. */

import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { nextMacrotask } from '../../js/common/macrotask.js';
import { storable } from '../../js/host/storable.js';

const webKit = {
    navigator: {
        userAgent: 'Mozilla/5.0 AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18 Safari/605.1.15',
    },
};

/** The outcome of the next attempt to store a Blob: `stored`, the name of an error, `throws`, `closed` or `lost`. */
let answer = 'stored';
let questions = 0;

/** @param {string} name */
const failure = (name) => new DOMException('of the mock', name);

const put = () => {
    ++questions;
    if (answer === 'throws') throw failure('DataCloneError');
    const request = /** @type {any} */ ({ error: answer === 'stored' ? null : failure(answer) });
    queueMicrotask(() => {
        if (answer === 'stored') request.onsuccess();
        else if (answer !== 'lost') request.onerror();
        if (answer !== 'stored') transaction.abort();
    });
    return request;
};

/** @type {any} */
const transaction = {
    objectStore: () => ({ put }),
    abort: () => queueMicrotask(() => transaction.onabort()),
};

/** @type {any} */
const database = {
    use: (/** @type {(connection: any) => void} */ opened) =>
        opened(answer === 'closed' ? undefined : { transaction: () => transaction }),
};

/**
 * The function of a fresh copy of the module, as in a new page.
 *
 * @type {(platform: object, database: any) => Promise<void>}
 */
let learnStorable;
let pages = 0;

beforeEach(async () => {
    ({ learnStorable } = await import(
        /** @type {any} */ (`../../js/host/learn-storable.js?page=${++pages}`)
    ));
    questions = 0;
});

/** Whether a Blob counts as storable. Waits until an attempt that this begins has ended. */
async function keepsBlobs() {
    let kept = true;
    try {
        storable([new Blob(['?'])]);
    } catch (error) {
        assert.equal(/** @type {DOMException} */ (error).name, 'DataCloneError');
        kept = false;
    }
    await nextMacrotask();
    return kept;
}

/** @param {string} next */
const learn = (next) => {
    answer = next;
    return learnStorable(webKit, database);
};

test('an engine that stores Blobs is asked once', async () => {
    await learn('stored');
    await learn('DataCloneError');
    assert.deepEqual([await keepsBlobs(), questions], [true, 1]);
});

test('an engine that refuses Blobs is asked once', async () => {
    await learn('DataCloneError');
    await learn('stored');
    assert.deepEqual([await keepsBlobs(), await keepsBlobs(), questions], [false, false, 1]);
});

test('a full disk makes no Blob unstorable, and the next load asks again', async () => {
    await learn('QuotaExceededError');
    assert.equal(await keepsBlobs(), true);
    await learn('DataCloneError');
    assert.deepEqual([await keepsBlobs(), questions], [false, 2]);
});

for (const unknown of ['UnknownError', 'AbortError', 'lost', 'closed', 'throws']) {
    test(`a Blob is refused after the outcome ${unknown}, and each refusal asks again`, async () => {
        await learn(unknown);
        assert.equal(await keepsBlobs(), false);
        assert.equal(await keepsBlobs(), false);
        answer = 'stored';
        assert.equal(await keepsBlobs(), false);
        assert.equal(await keepsBlobs(), true);
        await learn('DataCloneError');
        assert.equal(await keepsBlobs(), true);
    });
    test(`the next load asks again after the outcome ${unknown}`, async () => {
        await learn(unknown);
        await learn('stored');
        assert.equal(await keepsBlobs(), true);
    });
}
