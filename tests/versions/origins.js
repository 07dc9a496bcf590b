/** Emulated browsers of a file of tests, which are closed after each test. */

import { afterEach } from 'node:test';
import { createOrigin } from 'tabacus/emulator';

/** @typedef {import('tabacus/emulator').Origin} Origin */

/** The origins of the running test. @type {Origin[]} */
const origins = [];

// Also of a test that hangs: timers of open tabs would keep the process busy for ever.
afterEach(() => origins.splice(0).forEach((origin) => origin.close()));

/** @param {import('tabacus/emulator').CreateOriginOptions} options */
export async function newOrigin(options) {
    const origin = await createOrigin(options);
    origins.push(origin);
    return origin;
}
