/** `import 'tabacus/polyfill'` where there is no navigator.locks, as in Node 20. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as fakeIndexedDB from 'fake-indexeddb';
import { open } from 'tabacus';

/** @type {any} */
const platform = globalThis;

it('installs a LockManager over the lease, which excludes; tabacus itself does not build on it', async () => {
    const navigator = {};
    Object.defineProperty(platform, 'navigator', { value: navigator, configurable: true });
    for (const [name, value] of Object.entries(fakeIndexedDB)) {
        if (/^(IDB|indexedDB$)/.test(name)) platform[name] = value;
    }
    await import('tabacus/polyfill');
    const { locks } = /** @type {any} */ (navigator);
    assert.ok(locks instanceof platform.LockManager && locks === platform.navigator.locks);
    let inside = 0;
    const enter = async (/** @type {any} */ lock) => {
        assert.ok(lock instanceof platform.Lock);
        assert.equal(++inside, 1);
        await new Promise((resolve) => setTimeout(resolve, 1));
        --inside;
        return lock.name;
    };
    assert.deepEqual(await Promise.all([1, 2, 3].map(() => locks.request('l', enter))), ['l', 'l', 'l']);
    assert.equal(await locks.request('l', { ifAvailable: true }, (/** @type {any} */ lock) => lock?.mode), 'exclusive');
    const tab = await open({ build: 'single', namespace: 'other' });
    assert.notEqual(tab.capabilities.exclusion, 'web-locks');
    await tab.close();
    const same = await import('tabacus/compat/locks');
    assert.equal(same.LockManager, platform.LockManager);
});
