const { port1, port2 } = new MessageChannel();
/** @type {(() => void)[]} */
const waiting = [];
port1.onmessage = () => waiting.shift()?.();

/**
 * Resolves in the next task of the event loop, without the 4 ms to which timers are clamped.
 *
 * @returns {Promise<void>}
 */
export const nextMacrotask = () =>
    new Promise((resolve) => {
        waiting.push(resolve);
        port2.postMessage(0);
    });
