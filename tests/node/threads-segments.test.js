/**
 * The page loads the module that makes segments when the first one is wanted. If that fails, those who wait get an
 * error, and the next call gets a segment.
 */

import assert from 'node:assert/strict';
import { register } from 'node:module';
import { test } from 'node:test';
import { TabacusError } from 'tabacus';
import { threads } from 'tabacus/threads';

/** Fails the first import that the page's module makes from here on: that of the module that makes segments. */
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

test('segments: calls that wait while their module does not load reject, and later calls get them', async () => {
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
