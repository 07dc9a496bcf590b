/** The queues of a tab. */

import { TabacusError } from '../common/errors.js';
import { OpenQueue } from './open-queue.js';

const closeWait_ms = 2_000;

export class Queues {
    #bridge;
    #platform;
    /** @type {Promise<void> | undefined} */
    #closing;

    /** In the order of their numbers in the core. @type {OpenQueue[]} */
    #opened = [];

    #online = () => void this.#bridge.invoke('_queues_online', []);

    /**
     * @param {import('../core/bridge.js').Bridge} bridge
     * @param {import('../host/host.js').Platform} platform
     */
    constructor(bridge, platform) {
        if (!bridge.host.database.available) {
            throw new TabacusError('unavailable', 'a queue needs IndexedDB, and there is none here');
        }
        this.#bridge = bridge;
        this.#platform = platform;
        bridge.owner.callback = (queue, what, first, second) =>
            this.#opened[queue]?._callback(what, first, second);
        platform.addEventListener?.('online', this.#online);
        bridge.host.lifecycle.onBack(() => {
            for (const queue of this.#opened) queue._returned();
        });
    }

    /**
     * @param {string} name
     * @param {number[]} options checkQueueOptions()
     */
    open(name, options) {
        const queue = new OpenQueue(this.#bridge, this.#platform, name, options);
        this.#opened.push(queue);
        return queue;
    }

    /** Ends when what was asked for before is done, or after `closeWait_ms` if the page is stopped or gone. */
    close() {
        this.#closing ??= this.#close();
        return this.#closing;
    }

    async #close() {
        /** @type {ReturnType<typeof setTimeout> | undefined} */
        let timer;
        const late = new Promise((resolve) => (timer = setTimeout(resolve, closeWait_ms)));
        await Promise.race([late, Promise.all(this.#opened.map((queue) => queue._end()))]);
        clearTimeout(timer);
        this.#platform.removeEventListener?.('online', this.#online);
        this.#bridge.invoke('_queues_close', []);
        for (const queue of this.#opened) queue._close();
    }
}
