/** The text behind a URL that needs no network. */

import { textOfBlob } from '../load.web.js';

/**
 * The text that a data: URL contains, or of the blob in this process that a blob: URL names.
 *
 * @param {URL} url
 * @returns {string | Promise<string>}
 */
export function textOf({ protocol, href }) {
    if (protocol === 'blob:') return textOfBlob(href);
    const found = protocol === 'data:' ? /^data:([^,#]*),([^#]*)/.exec(href) : null;
    if (!found) return Promise.reject(new TypeError(`${href} is not here`));
    const [, type = '', data = ''] = found;
    // A percent sign that is not part of an encoded byte stays; invalid base64 is a network error (Fetch §6).
    const bytes = data.replace(/%([\da-f]{2})/gi, (_, digits) => String.fromCharCode(parseInt(digits, 16)));
    try {
        const body = /; *base64\s*$/i.test(type) ? atob(bytes) : bytes;
        return new TextDecoder().decode(Uint8Array.from(body, (unit) => unit.charCodeAt(0)));
    } catch (error) {
        return Promise.reject(error);
    }
}
