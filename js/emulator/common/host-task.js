/** Tasks of the host, in which the emulator's tasks run. */

/**
 * Calls a function after all microtasks have run. If `yields`, it is called in a later task of the host, so that the
 * host's own tasks run before it.
 * @type {(call: () => void, yields?: boolean) => void}
 */
export const hostTask = makeHostTask();

/**
 * How many calls of an origin in a row need not yield. Each origin counts its own calls, since otherwise the calls of
 * other origins would influence its schedule.
 */
export const unyieldingMax = 256;

/** @returns {(call: () => void, yields?: boolean) => void} */
function makeHostTask() {
    const { setImmediate, process } = /** @type {any} */ (globalThis);
    if (setImmediate && process?.nextTick) {
        // A reaction of a promise is cheaper than queueMicrotask(), which makes an AsyncResource.
        const settled = Promise.resolve();
        // Node runs a tick that a microtask requests once no microtask is left.
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
