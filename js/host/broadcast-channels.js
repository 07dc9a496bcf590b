import { attempt } from './failure.js';

/** As long as a message between two threads may keep this one busy on a loaded machine, and no longer. */
const deferral_ms = 3;

/**
 * The longest message that is passed on, in UTF-16 units. The longest of ours are events of queues, which name up to
 * 1,024 jobs by their keys, or carry an error or a note. A tab that misses one reads the store with its next poll.
 */
const messageUnitsMax = 2 ** 22;

/** BroadcastChannels, each known to the core by a number. */
export class ChannelsHost {
    #Channel;
    #report;
    #clock;
    #lifecycle;

    /** What can wait, in its order. @type {{ id: number, message: string }[]} */
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
     * @param {number} id
     * @param {string} name
     * @returns {boolean} false where there is none
     */
    open(id, name) {
        const Channel = this.#Channel;
        const channel = Channel && attempt(() => new Channel(name));
        if (!channel) return false;
        // In Node, an open channel must not be what keeps the process alive.
        /** @type {{ unref?: () => void }} */ (channel).unref?.();
        channel.onmessage = ({ data }) => {
            if (typeof data !== 'string' || data.length > messageUnitsMax) return;
            this.#report.message(id, data);
        };
        this.#open.set(id, channel);
        return true;
    }

    /**
     * @param {number} id
     * @param {string} message
     */
    post(id, message) {
        this.#postWaiting();
        this.#post(id, message);
    }

    /**
     * When what waits for this thread has had it; at once in a hidden page, whose timers are late.
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
     * @param {number} id
     * @param {string} message
     */
    #post(id, message) {
        attempt(() => this.#open.get(id)?.postMessage(message));
    }

    /** @param {number} id */
    close(id) {
        this.#postWaiting();
        this.#open.get(id)?.close();
        this.#open.delete(id);
    }

    dispose() {
        for (const id of [...this.#open.keys()]) this.close(id);
    }
}
