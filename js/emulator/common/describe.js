/** Describes thrown values, and texts for the lines of a trace. Every value has a description. */

/** @param {(error: any) => string} toText @returns {(error: unknown) => string} */
const always = (toText) => (error) => {
    for (const attempt of [toText, (/** @type {unknown} */ one) => Object.prototype.toString.call(one)]) {
        try {
            return attempt(error);
        } catch {
            // Converting the value to a string throws.
        }
    }
    return 'an exception';
};

/** The number of code units of a text that a line of a trace shows. */
const shownMax = 80;

/** Shortens a long text for a line of a trace to its beginning. @param {string} text */
export const shorten = (text) =>
    text.length > shownMax ? `${text.slice(0, shownMax)}… (${text.length} units)` : text;

/** Escapes the characters that would end a line of a trace. @param {string} text */
export const oneLine = (text) =>
    text.replace(/[\p{Cc}\u2028\u2029]/gu, (unit) =>
        unit === '\n' ? '\\n' : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );

/** The text that a browser's console shows for a thrown value. */
export const describe = always(String);

/** An error's name and message, even if its toString() returns something else. */
export const describeError = always((error) =>
    error instanceof Error || error instanceof DOMException
        ? `${error.name}: ${error.message}`
        : String(error),
);
