const { setImmediate } = /** @type {any} */ (globalThis); // Node's

/** Resolves in the next macrotask of the event loop, without the pause that timers make. @type {() => Promise<void>} */
export const nextMacrotask = setImmediate
    ? () => new Promise((resolve) => void setImmediate(resolve))
    : byMessages();

/** @returns {() => Promise<void>} */
function byMessages() {
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
