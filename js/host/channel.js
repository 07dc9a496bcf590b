import { attempt } from './failure.js';

/** BroadcastChannels, each known to the core by a number. */
export class ChannelsHost {
    #Channel;
    #report;

    /** @type {Map<number, BroadcastChannel>} */
    #open = new Map();

    /**
     * @param {import('./host.js').Platform} platform
     * @param {import('./host.js').Report} report
     */
    constructor(platform, report) {
        this.#Channel = attempt(() => platform.BroadcastChannel);
        this.#report = report;
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
        channel.onmessage = ({ data }) => this.#report('message', id, [typeof data === 'string' ? data : '']);
        this.#open.set(id, channel);
        return true;
    }

    /**
     * @param {number} id
     * @param {string} message
     */
    post(id, message) {
        attempt(() => this.#open.get(id)?.postMessage(message));
    }

    /** @param {number} id */
    close(id) {
        this.#open.get(id)?.close();
        this.#open.delete(id);
    }

    dispose() {
        for (const id of [...this.#open.keys()]) this.close(id);
    }
}
