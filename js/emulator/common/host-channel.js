/** A channel over which the emulator sends messages to itself: a source of tasks that no fake timers replace. */

const { MessageChannel } = globalThis;

/** @typedef {MessagePort & { ref?: () => void, unref?: () => void }} HostPort the ports of Node keep its process alive */

/** @type {{ near: HostPort, far: HostPort } | undefined} */
let ports;

/** The functions that the next messages call, in their order. @type {(() => void)[]} */
const calls = [];

/** The number of calls of hold() that release() has not ended. */
let holds = 0;

/** Returns the two ports, and makes them at the first use, so that importing the emulator opens nothing. */
function opened() {
    if (ports) return ports;
    const { port1: near, port2: far } = /** @type {{ port1: HostPort, port2: HostPort }} */ (
        new MessageChannel()
    );
    near.onmessage = () => {
        release();
        calls.shift()?.();
    };
    far.onmessage = () => far.postMessage(0);
    near.unref?.();
    far.unref?.();
    return (ports = { near, far });
}

/** Keeps the process of Node alive until {@link release} is called as often. */
export function hold() {
    if (++holds === 1) opened().near.ref?.();
}

export function release() {
    if (--holds === 0) opened().near.unref?.();
}

/**
 * Calls a function in a later task of the host.
 *
 * @param {() => void} call
 * @param {boolean} yields whether the host's own tasks run before it: Node handles many messages in one turn of its
 *   event loop, but not a message and the answer to it
 */
export function postTask(call, yields) {
    const { near, far } = opened();
    hold();
    calls.push(call);
    if (yields) near.postMessage(0);
    else far.postMessage(0);
}
