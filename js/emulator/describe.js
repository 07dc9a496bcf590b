/** What was thrown, and what a trace tells, in words: whatever it is, it can be told. */

/** @param {(error: any) => string} words @returns {(error: unknown) => string} */
const whatever = (words) => (error) => {
    for (const say of [words, (/** @type {unknown} */ one) => Object.prototype.toString.call(one)]) {
        try {
            return say(error);
        } catch {
            // It has no words of its own, or they throw.
        }
    }
    return 'an exception';
};

/** How much of a text a line of a trace shows, in units. */
const shownMax = 80;

/** A part of a trace's line: the beginning of what is long. @param {string} text */
export const short = (text) =>
    text.length > shownMax ? `${text.slice(0, shownMax)}… (${text.length} units)` : text;

/** A line of a trace: what would end it is escaped. @param {string} text */
export const oneLine = (text) =>
    text.replace(/[\p{Cc}\u2028\u2029]/gu, (unit) =>
        unit === '\n' ? '\\n' : `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
    );

/** As a browser's console tells it. */
export const said = whatever(String);

/** An error's name and message, even where its toString() says another thing. */
export const named = whatever((error) =>
    error instanceof Error || error instanceof DOMException
        ? `${error.name}: ${error.message}`
        : String(error),
);
