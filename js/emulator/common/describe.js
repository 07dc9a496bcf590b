/** Texts for thrown values and for the lines of a trace: every value has one. */

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

/** How much of a text a line of a trace shows, in units. */
const shownMax = 80;

/** A part of a trace's line: the beginning of what is long. @param {string} text */
export const shorten = (text) =>
    text.length > shownMax ? `${text.slice(0, shownMax)}… (${text.length} units)` : text;

/** A line of a trace: what would end it is escaped. @param {string} text */
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
