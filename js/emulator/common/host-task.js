/** Tasks of the host's, in which the emulator's happen. */

/**
 * Calls after every microtask has run. `yields`: in a task of the host's, so that it gets on with its own.
 * @type {(call: () => void, yields?: boolean) => void}
 */
export const hostTask = makeHostTask();

/** Calls in a row of one origin's that need not yield: it counts them itself, or others' would decide what it does when. */
export const unyieldingMax = 256;

/** @returns {(call: () => void, yields?: boolean) => void} */
function makeHostTask() {
    const { setImmediate, process } = /** @type {any} */ (globalThis);
    if (setImmediate && process?.nextTick) {
        // A reaction is cheaper than queueMicrotask(), which makes an AsyncResource.
        const settled = Promise.resolve();
        // Node runs a tick that a microtask asks for when no microtask is left.
        return (call, yields = false) => {
            if (yields) setImmediate(call);
            else settled.then(() => process.nextTick(call));
        };
    }
    /** @type {(() => void)[]} */
    const calls = [];
    /** @type {MessageChannel | undefined} */
    let channel;
    return (call) => {
        if (!channel) {
            channel = new MessageChannel();
            channel.port1.onmessage = () => calls.shift()?.();
        }
        calls.push(call);
        channel.port2.postMessage(0);
    };
}
