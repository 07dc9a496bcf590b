const { setImmediate } = /** @type {any} */ (globalThis); // Node's

/** A task of the event loop, without the pause that timers make. @type {() => Promise<void>} */
export const task = setImmediate ? () => new Promise((resolve) => void setImmediate(resolve)) : posted();

/** @returns {() => Promise<void>} */
function posted() {
    const { port1, port2 } = new MessageChannel();
    /** @type {(() => void)[]} */
    const waiting = [];
    port1.onmessage = () => waiting.shift()?.();
    return () =>
        new Promise((resolve) => {
            waiting.push(resolve);
            port2.postMessage(undefined);
        });
}
