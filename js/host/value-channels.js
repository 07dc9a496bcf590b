import { messageUnitsMax } from './broadcast-channels.js';
import { attempt } from './failure.js';

/** The longest text that is accepted, in UTF-16 units. It leaves room in the message for the number of a value. */
const textUnitsMax = messageUnitsMax - 64;

/**
 * BroadcastChannels whose messages carry a value of the application, by structured clone. The core numbers
 * them together with its other channels, and closes them like those. It names a value by its number in
 * js/host/values.js.
 */
export class ValueChannels {
    #host;

    /** @param {import('./host.js').Host} host */
    constructor(host) {
        this.#host = host;
    }

    /**
     * Opens a channel. A message is an array of a text and, if there is one, a value. Whatever else is received
     * was sent by another program.
     *
     * @param {number} id
     * @param {string} name
     * @returns {boolean} false if the platform has no channels
     */
    open(id, name) {
        return this.#host.channels.open(id, name, (data) => {
            const [text, ...values] = Array.isArray(data) ? data : [];
            if (typeof text !== 'string' || text.length > textUnitsMax || text.includes('\n'))
                return undefined;
            return values.length === 0 ? text : `${text}\n${this.#host.values.keep(values[0])}`;
        });
    }

    /**
     * Sends a message with a clone of a value.
     *
     * @param {number} id
     * @param {string} message
     * @param {string} value its number; empty if there is none
     */
    post(id, message, value) {
        const { channels, values } = this.#host;
        channels.post(id, value === '' ? [message] : [message, values.get(value)]);
    }

    /** Clones a value, and returns the number of the clone. @param {string} value */
    copy(value) {
        const { values } = this.#host;
        // A value that was cloned before can be cloned again.
        return Number(values.keep(attempt(() => structuredClone(values.get(value)))));
    }

    /** Releases a value. @param {string} value */
    drop(value) {
        this.#host.values.take(value);
    }
}
