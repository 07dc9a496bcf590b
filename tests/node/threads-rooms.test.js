/** The page loads what makes rooms with the first that is wanted: who waits while that fails is told, and who asks next gets one. */

import assert from 'node:assert/strict';
import { register } from 'node:module';
import { test } from 'node:test';
import { TabacusError } from 'tabacus';
import { threads } from 'tabacus/threads';

/** Fails the first import that the page's module makes from here on; that is what makes rooms. */
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

test('rooms: who waits while their module does not load is told, and who asks next gets them', async () => {
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
