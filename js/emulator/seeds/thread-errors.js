/** Errors in messages between threads. A structured clone of an error loses its class and its `code`. */

import { TabacusError } from '../../common/errors.js';
import { describeError } from '../common/describe.js';

/** @typedef {import('../../common/errors.js').TabacusErrorDetails} TabacusErrorDetails */

/** `details`: those of a TabacusError. @typedef {{ error: unknown, code?: any, details?: TabacusErrorDetails }} SentError */

/** @param {unknown} value @returns {unknown} a text if the value cannot be cloned */
function clonable(value) {
    try {
        return structuredClone(value);
    } catch {
        return describeError(value);
    }
}

/** @param {any} error @returns {SentError} what a message contains for it */
export function sentError(error) {
    const { code, argument, value, allowed, cause } = Object(error);
    const sent = { error: clonable(error), code: clonable(code) };
    if (!(error instanceof TabacusError)) return sent;
    return { ...sent, details: { argument, allowed, value: clonable(value), cause: clonable(cause) } };
}

/** @param {SentError} sent @returns {unknown} the error, with its class and its code */
export function receivedError({ error, code, details }) {
    if (details) return new TabacusError(code, Object(error).message, details);
    return code !== undefined && error instanceof Error ? Object.assign(error, { code }) : error;
}
