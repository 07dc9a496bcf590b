/**
 * The page loads the module that makes segments when the first segment is requested. If that fails, the waiting calls
 * reject, and the next call gets a segment.
 */

import assert from 'node:assert/strict';
import { register } from 'node:module';
import { test } from 'node:test';
import { TabacusError } from 'tabacus';
import { threads } from 'tabacus/threads';

/** Fails the next import of the page's module, which is the import of the module that makes segments. */
const hooks = `
    let failures = 1;
    export async function resolve(specifier, context, next) {
        if (failures > 0 && context.parentURL?.endsWith('/tabacus-threads.js') && specifier.startsWith('./')) {
            failures--;
            throw new Error('no network');
        }
        return next(specifier, context);
    }`;

const unavailable = (/** @type {unknown} */ error) =>
    error instanceof TabacusError && error.code === 'unavailable';

test('calls for segments reject if their module does not load, and later calls get segments', async () => {
    const shared = await threads();
    register(`data:text/javascript,${encodeURIComponent(hooks)}`);
    const first = await Promise.allSettled([shared.storage(), shared.locks.query()]);
    for (const outcome of first)
        assert.ok(outcome.status === 'rejected' && unavailable(outcome.reason), String(outcome.status));
    const storage = await shared.storage();
    storage.setItem('a', '1');
    assert.equal(storage.getItem('a'), '1');
    assert.equal(await shared.locks.request('l', async () => 2), 2);
    shared.close();
});
