/** Helpers for all groups of the lock suite: promises, locks that a test holds, and the managers under test. */

import assert from 'node:assert/strict';

/**
 * The lock managers of two tabs, and their interfaces. The suite sets them before its first test.
 *
 * @typedef {object} Managers
 * @property {any} locks
 * @property {any} others the lock manager of another tab
 * @property {any} Lock
 * @property {any} LockManager
 */

export const rejectsDom = (/** @type {Promise<unknown>} */ promise, /** @type {string} */ name) =>
    assert.rejects(promise, (error) => error instanceof DOMException && error.name === name);

/** Asserts that a promise rejects with this very object. @param {Promise<unknown>} promise @param {unknown} reason */
export async function rejectsWith(promise, reason) {
    const [outcome] = await Promise.allSettled([promise]);
    assert.ok(outcome?.status === 'rejected' && outcome.reason === reason);
}

export const never = () => new Promise(() => {});
export const wait = (/** @type {number} */ delay_ms) =>
    new Promise((resolve) => setTimeout(resolve, delay_ms));

export function deferred() {
    /** @type {(value?: any) => void} */
    let resolve = () => {};
    /** @type {(reason?: any) => void} */
    let reject = () => {};
    const promise = new Promise((...both) => ([resolve, reject] = both));
    return { promise, resolve, reject };
}

let names = 0;
export const fresh = () => `resource ${++names}`;
export const unreached = () => assert.fail('the callback must not be called');

/**
 * Holds a lock until the test releases it.
 *
 * @param {any} manager
 * @param {string} name
 * @param {object} [options]
 */
export async function hold(manager, name, options = {}) {
    const [granted, end] = [deferred(), deferred()];
    const released = manager.request(name, options, (/** @type {any} */ lock) => {
        granted.resolve(lock);
        return end.promise;
    });
    released.catch(granted.reject);
    await granted.promise;
    return { released, release: end.resolve };
}

/** The requests for a lock that a manager reports. @param {string} name @param {any} manager */
export const stateOf = async (name, manager) => {
    const { held, pending } = await manager.query();
    const of = (/** @type {any[]} */ list) => list.filter((info) => info.name === name);
    return { held: of(held), pending: of(pending) };
};
