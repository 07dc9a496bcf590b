/** `import 'tabacus/polyfill'` where there is no navigator.locks, as in Node 20. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import * as fakeIndexedDB from 'fake-indexeddb';
import { open } from 'tabacus';

/** @type {any} */
const platform = globalThis;

it('the polyfill installs a LockManager that excludes by a lease, and tabacus itself does not use it', async () => {
    // The platform's own LockManager is hidden by a property of navigator, as pages do it.
    class Navigator {}
    const navigator = Object.defineProperty(new Navigator(), 'locks', {
        value: undefined,
        configurable: true,
    });
    Object.assign(platform, { Lock: class {}, LockManager: class {} });
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
    assert.equal(
        await locks.request('l', { ifAvailable: true }, (/** @type {any} */ lock) => lock?.mode),
        'exclusive',
    );
    const tab = await open({ namespace: 'other' });
    assert.notEqual(tab.capabilities.exclusion, 'web-locks');
    await tab.close();
    const same = await import('tabacus/compat/locks');
    assert.equal(same.Lock, platform.Lock);
});

it('the installed LockManager has the shape of the platform’s own (Web IDL §3.7)', async () => {
    const { navigator, Lock, LockManager } = platform;
    assert.deepEqual(
        [Lock.name, Lock.length, LockManager.name, LockManager.length],
        ['Lock', 0, 'LockManager', 0],
    );
    for (const Interface of [Lock, LockManager]) assert.throws(() => new Interface(), TypeError);
    assert.equal(String(navigator.locks), '[object LockManager]');
    assert.deepEqual(Object.keys(LockManager.prototype), ['request', 'query']);
    assert.deepEqual(Object.keys(Lock.prototype), ['name', 'mode']);
    assert.deepEqual([LockManager.prototype.request.length, LockManager.prototype.query.length], [2, 0]);
    assert.ok(!Object.hasOwn(navigator, 'locks'));
    assert.throws(() => Object.getPrototypeOf(navigator).locks, TypeError);
    await assert.rejects(LockManager.prototype.query.call({}), TypeError);
    await assert.rejects(navigator.locks.request('one argument'), TypeError);
    await assert.rejects(
        navigator.locks.request('-reserved', () => {}),
        { name: 'NotSupportedError' },
    );
    await navigator.locks.request('l', (/** @type {any} */ lock) =>
        assert.equal(String(lock), '[object Lock]'),
    );
});
