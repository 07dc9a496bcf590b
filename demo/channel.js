/**
 * The messages between the tabs of this demo. A tab receives its own messages too, so that the tab in which Race was
 * pressed takes part as every other.
 */

const NAME = 'tabacus-demo';

/** @typedef {{ type: string } & Record<string, any>} Message */

/**
 * @typedef {object} Channel
 * @property {(message: Message) => void} send
 * @property {(type: string, receive: (message: any) => void) => () => void} on  returns a function that ends it
 */

/** @returns {Channel} */
export function openChannel() {
    const target = new EventTarget();
    const others = new BroadcastChannel(NAME);
    const deliver = (/** @type {Message} */ message) =>
        target.dispatchEvent(new CustomEvent(message.type, { detail: message }));
    others.addEventListener('message', ({ data }) => deliver(data));
    return {
        send(message) {
            others.postMessage(message);
            queueMicrotask(() => deliver(message));
        },
        on(type, receive) {
            const listener = (/** @type {Event} */ event) =>
                receive(/** @type {CustomEvent} */ (event).detail);
            target.addEventListener(type, listener);
            return () => target.removeEventListener(type, listener);
        },
    };
}
