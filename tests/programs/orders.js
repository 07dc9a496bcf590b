/** A Worker that does what it is told, and says what came of it; and who tells it. */

/**
 * The Worker's side.
 *
 * @param {object} orders functions by the names of the orders
 * @param {(message: unknown) => void} post
 * @returns {(message: any) => Promise<void>} to be called with each message
 */
export function obeying(orders, post) {
    return async ({ order, args }) => {
        try {
            post({ value: await /** @type {any} */ (orders)[order](...args) });
        } catch (error) {
            const { name, code, message } = /** @type {any} */ (error);
            post({ error: { name, code, message } });
        }
    };
}

/**
 * The other side.
 *
 * @param {(message: unknown) => void} post
 * @param {() => Promise<any>} next resolves with the Worker's next message
 * @returns {(order: string, ...args: unknown[]) => Promise<any>} what came of it; rejects with the Worker's error
 */
export function telling(post, next) {
    return async (order, ...args) => {
        post({ order, args });
        const { value, error } = await next();
        if (error) throw Object.assign(new Error(error.message), error);
        return value;
    };
}
