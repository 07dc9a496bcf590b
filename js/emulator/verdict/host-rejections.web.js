/** Takes the browser's notices of rejected promises while explorations run. */

/** @typedef {import('./rejections.js').Notices} Notices */

/**
 * Shows each notice to `notices` first. What these do not take goes to the other listeners.
 *
 * @param {Notices} notices
 * @returns {() => void} ends it
 */
export function takeNotices({ rejected, handled }) {
    const call = (/** @type {any} */ event) => {
        const { type, promise, reason } = event;
        if (!(type === 'unhandledrejection' ? rejected(promise, reason) : handled(promise))) return;
        event.preventDefault();
        event.stopImmediatePropagation();
    };
    const types = ['unhandledrejection', 'rejectionhandled'];
    for (const type of types) globalThis.addEventListener?.(type, call, { capture: true });
    return () => {
        for (const type of types) globalThis.removeEventListener?.(type, call, { capture: true });
    };
}
