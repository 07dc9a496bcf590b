/** The queues of a tab. */

import { TabacusError } from '../common/errors.js';
import { queuesClose, queuesOnline } from '../core/generated/queues.js';
import { OpenQueue } from './open-queue.js';
import { Queue } from './queue.js';

/** All options of a queue, with their defaults; 0 stands for Infinity. @typedef {Required<import('./queue-options.js').QueueOptions>} QueueValues */

/** The longest time for which close() waits for calls that are not settled. */
const closeWait_ms = 2_000;

/** The queues of an engine. All its handles share them. */
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
     * Makes a deferred object the queue that it stands for.
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
     * Returns the open queue of that name, which all handles of the engine share.
     *
     * @param {string} name
     * @param {QueueValues} options those of the queue's first user in this engine
     * @throws {TabacusError} `unavailable` without IndexedDB
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
     * Closes the queues because the program has failed. Running jobs lose their claims.
     * @param {TabacusError} error
     */
    _fail(error) {
        this.#platform.removeEventListener?.('online', this.#online);
        for (const queue of this.#opened.values()) queue._close(error);
    }

    /**
     * Closes the queues, once earlier calls are settled; after `closeWait_ms` at the latest, as the page may
     * be stopped.
     */
    close() {
        this.#closing ??= this.#close();
        return this.#closing;
    }

    async #close() {
        const ends = [...this.#opened.values()].map((queue) => queue._end());
        await new Promise((resolve) => {
            const stopWaiting = this.#bridge.host.clock.after(closeWait_ms, () => resolve(undefined));
            Promise.all(ends).then(resolve, resolve).finally(stopWaiting);
        });
        this.#platform.removeEventListener?.('online', this.#online);
        queuesClose(this.#bridge);
        const closed = new TabacusError('closed', 'the tab was closed before this was done');
        for (const queue of this.#opened.values()) queue._close(closed);
    }
}

/** Converts the options of a queue for the core. @param {QueueValues} options */
const coreOptions = ({ order, onFailure, backOff, ...others }) => ({
    ...others,
    lifo: order === 'lifo',
    pauseOnFailure: onFailure === 'pause',
    backOff_ms: backOff,
});
