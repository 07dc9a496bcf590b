/** The queues of a tab. */

import { TabacusError } from '../common/errors.js';
import { queuesClose, queuesOnline } from '../core/generated/queues.js';
import { OpenQueue } from './open-queue.js';
import { Queue } from './queue.js';

/** The options of a queue, all of them; 0 for Infinity. @typedef {Required<import('./queue-options.js').QueueOptions>} QueueValues */

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
     * Makes an object that a tab has returned the queue that it stands for.
     *
     * @param {{ name: string }} object
     * @param {string} _kind
     * @param {QueueValues} options
     * @throws {TabacusError} `unavailable`
     */
    adopt(object, _kind, options) {
        return new Queue(object, this.#open(object.name, options));
    }

    /**
     * The queue of that name, which the tabs of an engine share.
     *
     * @param {string} name
     * @param {QueueValues} options those of the first call count
     */
    #open(name, options) {
        if (!this.#bridge.host.database.available)
            throw new TabacusError('unavailable', 'a queue needs IndexedDB, and there is none here');
        const queue =
            this.#opened.get(name) ?? new OpenQueue(this.#bridge, this.#platform, name, coreOptions(options));
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

    /** Closes all queues. Ends when what was asked for before is done, or after `closeWait_ms` if the page is stopped or gone. */
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

/** @param {QueueValues} options */
const coreOptions = ({ order, onFailure, backOff, ...others }) => ({
    ...others,
    lifo: order === 'lifo',
    pauseOnFailure: onFailure === 'pause',
    backOff_ms: backOff,
});
