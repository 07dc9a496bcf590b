/** Calls of a Worker's functions by messages, one call after another. */

/**
 * Answers calls: the Worker's side.
 *
 * @param {object} methods functions by the names of the calls
 * @param {(message: unknown) => void} post
 * @returns {(message: any) => Promise<void>} a function to call with each message
 */
export function answerCalls(methods, post) {
    return async ({ method, args }) => {
        try {
            post({ value: await /** @type {any} */ (methods)[method](...args) });
        } catch (error) {
            const { name, code, message } = /** @type {any} */ (error);
            post({ error: { name, code, message } });
        }
    };
}

/**
 * Makes calls: the side of the page.
 *
 * @param {(message: unknown) => void} post
 * @param {() => Promise<any>} next resolves with the Worker's next message
 * @returns {(method: string, ...args: unknown[]) => Promise<any>} the result; rejects with the Worker's error
 */
export function callsTo(post, next) {
    return async (method, ...args) => {
        post({ method, args });
        const { value, error } = await next();
        if (error) throw Object.assign(new Error(error.message), error);
        return value;
    };
}
