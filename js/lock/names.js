/** Names as stores and other tabs have them: well-formed, and without U+0000, which ends a text in version 0.1.0. */

/** Stands before the four digits of a unit that the core's names cannot have: itself, U+0000, lone surrogates. */
const mark = '\uffff';

/** @param {string} name any DOMString @returns {string} injective */
export const coreName = (name) =>
    name.replace(
        /[\0\uffff]|\p{Surrogate}/gu,
        (unit) => mark + unit.charCodeAt(0).toString(16).padStart(4, '0'),
    );

/** The inverse. @param {string} name */
export const domName = (name) =>
    name.replace(/\uffff([0-9a-f]{4})/g, (_, digits) => String.fromCharCode(parseInt(digits, 16)));
