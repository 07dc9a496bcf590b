/** What was thrown, in words: whatever it is, it can be told. */

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

/** As a browser's console tells it. */
export const said = whatever(String);

/** An error's name and message, even where its toString() says another thing. */
export const named = whatever((error) => (error instanceof Error || error instanceof DOMException ? `${error.name}: ${error.message}` : String(error)));
