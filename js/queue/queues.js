/** The queues of a tab. */

import { TabacusError } from '../common/errors.js';
import { queuesClose, queuesOnline } from '../core/generated/queues.js';
import { OpenQueue } from './open-queue.js';

const closeWait_ms = 2_000;

export class Queues {
    #bridge;
    #platform;
    /** @type {Promise<void> | undefined} */
    #closing;

    /** @type {Map<string, OpenQueue>} */
    #opened = new Map();

    #online = () => void queuesOnline(this.#bridge);

    /**
     * @param {import('../core/bridge.js').Bridge} bridge
     * @param {import('../host/host.js').Platform} platform
     */
    constructor(bridge, platform) {
        this.#bridge = bridge;
        this.#platform = platform;
        platform.addEventListener?.('online', this.#online);
        bridge.host.lifecycle.onBack(() => {
            for (const queue of this.#opened.values()) queue._returned();
        });
    }

    /**
     * The one of that name, which the tabs of an engine share.
     *
     * @param {string} name
     * @param {ReturnType<typeof import('./queue-options.js').checkQueueOptions>} options of the first who opens it
     * @throws {TabacusError} `unavailable`
     */
    open(name, options) {
        if (!this.#bridge.host.database.available)
            throw new TabacusError('unavailable', 'a queue needs IndexedDB, and there is none here');
        const queue = this.#opened.get(name) ?? new OpenQueue(this.#bridge, this.#platform, name, options);
        this.#opened.set(name, queue);
        return queue;
    }

    /**
     * The program has failed: what runs has lost its claim.
     * @param {TabacusError} error
     */
    _fail(error) {
        this.#platform.removeEventListener?.('online', this.#online);
        for (const queue of this.#opened.values()) queue._close(error);
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
        await Promise.race([late, Promise.all([...this.#opened.values()].map((queue) => queue._end()))]);
        clearTimeout(timer);
        this.#platform.removeEventListener?.('online', this.#online);
        queuesClose(this.#bridge);
        const closed = new TabacusError('closed', 'the tab was closed before this was done');
        for (const queue of this.#opened.values()) queue._close(closed);
    }
}
