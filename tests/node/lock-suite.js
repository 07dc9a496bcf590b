/**
 * Conformance to W3C Web Locks, for every object with the interface of a LockManager: the assertions of
 * web-platform-tests' web-locks suite, rewritten, and assertions about requirements that this suite leaves out.
 */

import { after, before, describe } from 'node:test';
import { grantTests } from './lock-suite-grants.js';
import { requestTests } from './lock-suite-requests.js';

/** @typedef {import('./lock-suite-helpers.js').Managers} Managers */

/**
 * @param {string} title
 * @param {() => Promise<Managers & { end: () => unknown }>} make the lock managers of two tabs, and their interfaces
 */
export const lockSuite = (title, make) =>
    describe(title, { timeout: 120_000 }, () => {
        const managers = /** @type {Managers} */ ({});
        /** @type {() => unknown} */
        let end;

        before(async () => {
            const made = await make();
            ({ end } = made);
            Object.assign(managers, made);
        });
        after(() => end());

        requestTests(managers);
        grantTests(managers);
    });
