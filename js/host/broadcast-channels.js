import { attempt } from './failure.js';

/**
 * How long a deferred message waits. On a loaded machine, sending a message may occupy the thread for about
 * this long.
 */
const deferral_ms = 3;

/**
 * The longest message that is accepted, in UTF-16 units. The longest messages of tabacus are events of
 * queues, which name up to 1,024 jobs by their keys, or carry an error or a note. A tab that misses one reads
 * the store at its next poll.
 */
export const messageUnitsMax = 2 ** 22;

/** BroadcastChannels. The core identifies each by a number. */
export class ChannelsHost {
    #Channel;
    #report;
    #clock;
    #lifecycle;

    /** The deferred messages, in their order. @type {{ id: number, message: string }[]} */
    #waiting = [];

    #stopWaiting = () => {};

    /** @type {Map<number, BroadcastChannel>} */
    #open = new Map();

    /**
     * @param {import('./host.js').Platform} platform
     * @param {Pick<import('./clock.js').ClockHost, 'after'>} clock
     * @param {{ readonly hidden: boolean }} lifecycle
     * @param {import('./host.js').HostEvents} report
     */
    constructor(platform, clock, lifecycle, report) {
        this.#Channel = attempt(() => platform.BroadcastChannel);
        this.#report = report;
        this.#clock = clock;
        this.#lifecycle = lifecycle;
    }

    /**
     * Opens a channel.
     *
     * @param {number} id
     * @param {string} name
     * @param {(data: unknown) => unknown} [read] converts a received message into the text for the core. If it
     *   returns anything but a text, the message is dropped
     * @returns {boolean} false if the platform has no channels
     */
    open(id, name, read = (data) => data) {
        const Channel = this.#Channel;
        const channel = Channel && attempt(() => new Channel(name));
        if (!channel) return false;
        // In Node, an open channel alone must not keep the process alive.
        /** @type {{ unref?: () => void }} */ (channel).unref?.();
        channel.onmessage = ({ data }) => {
            const text = read(data);
            if (typeof text !== 'string' || text.length > messageUnitsMax) return;
            this.#report.message(id, text);
        };
        this.#open.set(id, channel);
        return true;
    }

    /**
     * Sends a message, after the deferred ones.
     *
     * @param {number} id
     * @param {unknown} message
     */
    post(id, message) {
        this.#postWaiting();
        this.#post(id, message);
    }

    /**
     * Sends a message a little later, so that the work that is waiting for this thread runs first. In a
     * hidden page, where timers are late, the message is sent at once.
     *
     * @param {number} id
     * @param {string} message
     */
    postDeferred(id, message) {
        if (this.#lifecycle.hidden) return this.post(id, message);
        if (this.#waiting.push({ id, message }) > 1) return undefined;
        this.#stopWaiting = this.#clock.after(deferral_ms, () => this.#postWaiting());
        return undefined;
    }

    #postWaiting() {
        this.#stopWaiting();
        for (const { id, message } of this.#waiting.splice(0)) this.#post(id, message);
    }

    /**
     * Sends a message at once.
     *
     * @param {number} id
     * @param {unknown} message
     */
    #post(id, message) {
        attempt(() => this.#open.get(id)?.postMessage(message));
    }

    /** Closes a channel, after the deferred messages are sent. @param {number} id */
    close(id) {
        this.#postWaiting();
        this.#open.get(id)?.close();
        this.#open.delete(id);
    }

    /** Closes all channels. */
    dispose() {
        for (const id of [...this.#open.keys()]) this.close(id);
    }
}
