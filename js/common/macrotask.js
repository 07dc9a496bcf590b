const { setImmediate } = /** @type {any} */ (globalThis); // Node's

/** What nextMacrotask() calls, made by its first call: importing this file asks nothing of the platform. @type {(() => Promise<void>) | undefined} */
let wait;

/** Resolves in the next macrotask of the event loop: without the pause that timers make, where the platform can. */
export function nextMacrotask() {
    wait ??= setImmediate
        ? () => new Promise((resolve) => void setImmediate(resolve))
        : typeof MessageChannel === 'function'
          ? byMessages()
          : () => new Promise((resolve) => void setTimeout(resolve));
    return wait();
}

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
