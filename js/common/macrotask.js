const { setImmediate } = /** @type {any} */ (globalThis); // Node has it

/**
 * The function behind nextMacrotask(). Its first call makes it, so that importing this file uses nothing of
 * the platform.
 * @type {(() => Promise<void>) | undefined}
 */
let wait;

/**
 * Resolves in the next macrotask of the event loop; without the delay of a timer, if the platform has such
 * tasks.
 */
export function nextMacrotask() {
    wait ??= setImmediate
        ? () => new Promise((resolve) => void setImmediate(resolve))
        : typeof MessageChannel === 'function'
          ? byMessages()
          : () => new Promise((resolve) => void setTimeout(resolve));
    return wait();
}

/** Returns a function that waits for a message of a MessageChannel. @returns {() => Promise<void>} */
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
