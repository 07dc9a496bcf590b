/** Which error a call must end with, for `assert.throws()` and `assert.rejects()`. */

import { TabacusError } from 'tabacus';

/** @param {string} code */
export const failsWith = (code) => (/** @type {any} */ error) =>
    error instanceof TabacusError && error.code === code;

/** @param {string} name of a DOMException */
export const isDom = (name) => (/** @type {any} */ error) =>
    error instanceof DOMException && error.name === name;
