/** The queues of a tab, on a module of their own (wasm/src/bindings/queue): loaded by the first. */

import { Bridge } from '../core/bridge.js';
import { loadModule } from '../core/load-module.js';
import { TabacusError } from '../common/errors.js';
import { Host } from '../host/host.js';
import { learnStorable } from '../host/learn-storable.js';
import { OpenQueue } from './open-queue.js';

/** @typedef {import('../lock/tab-locks.js').Owner} Owner what a tab hands over */

const closeWait_ms = 2_000;

export class Queues {
    #bridge;
    #host;
    #platform;
    /** @type {Promise<void> | undefined} */
    #closing;

    /** In the order of their numbers in the core. @type {OpenQueue[]} */
    #opened = [];

    #online = () => void this.#bridge.invoke('_queues_online', []);

    /** @param {{ persisted: boolean }} event */
    #pageShow = ({ persisted }) => {
        if (persisted) for (const queue of this.#opened) queue._returned();
    };

    /**
     * @param {import('../core/load-module.js').Glue} glue
     * @param {Host} host
     * @param {Owner} owner
     */
    constructor(glue, host, { namespace, platform, notice }) {
        this.#host = host;
        this.#platform = platform;
        this.#bridge = new Bridge(glue, host, {
            changed: () => {},
            notice,
            callback: (queue, what, first, second) => this.#opened[queue]?._callback(what, first, second),
        });
        this.#bridge.start(namespace);
        platform.addEventListener?.('online', this.#online);
        platform.addEventListener?.('pageshow', this.#pageShow);
    }

    /** @param {Owner} owner */
    static async load(owner) {
        const host = new Host(owner.platform, owner.namespace);
        try {
            const [glue] = await Promise.all([
                loadModule('queue', owner.source),
                host.ready().then(() => learnStorable(owner.platform, host.database)),
            ]);
            if (!host.database.available) {
                throw new TabacusError('unavailable', 'a queue needs IndexedDB, and there is none here');
            }
            return new Queues(glue, host, owner);
        } catch (error) {
            host.dispose();
            throw error;
        }
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
        this.#platform.removeEventListener?.('pageshow', this.#pageShow);
        this.#bridge.invoke('_queues_close', []);
        for (const queue of this.#opened) queue._close();
        this.#bridge.promises.rejectAll();
        this.#host.dispose();
    }
}
