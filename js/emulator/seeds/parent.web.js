/** The thread that started this Worker. */

const scope = /** @type {any} */ (globalThis);

/** @param {(message: any) => void} receive is called with each message of the parent */
export const onParent = (receive) =>
    scope.addEventListener('message', (/** @type {MessageEvent} */ { data }) => receive(data));

/** @param {unknown} message */
export const postToParent = (message) => scope.postMessage(message);
