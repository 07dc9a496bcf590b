import { onceFields } from './arena-layout.js';
import { SharedMutex } from './shared-mutex.js';

/** A function that runs once over all threads. SharedMemory's callOnce() and callOnceAsync() use it. */
export class SharedOnce {
    #core;
    #at;
    #mutex;

    /**
     * @param {import('./thread-core.js').ThreadCore} core
     * @param {string} name
     * @param {number} at
     */
    constructor(core, name, at) {
        this.#core = core;
        this.#at = (at + onceFields.done) >> 2;
        this.#mutex = new SharedMutex(core, name, at);
    }

    /** Whether the function has run. */
    get #done() {
        return Atomics.load(this.#core.words, this.#at) !== 0;
    }

    /** Whether the holder of the mutex has to run the function: an earlier holder may have died in it. */
    #isDue() {
        this.#mutex.markConsistent();
        return !this.#done;
    }

    /** Records that the function has run. */
    #end() {
        Atomics.store(this.#core.words, this.#at, 1);
        return true;
    }

    /**
     * Implements SharedMemory.callOnce().
     *
     * @param {() => void} run
     * @param {{ timeout?: number }} [options]
     */
    call(run, options) {
        if (this.#done) return false;
        this.#mutex.lock(options);
        try {
            if (!this.#isDue()) return false;
            run();
            return this.#end();
        } finally {
            this.#mutex.unlock();
        }
    }

    /**
     * Implements SharedMemory.callOnceAsync().
     *
     * @param {() => unknown} run
     * @param {{ signal?: AbortSignal, timeout?: number }} [options]
     */
    async callAsync(run, options) {
        if (this.#done) return false;
        const held = await this.#mutex.lockAsync(options);
        try {
            if (!this.#isDue()) return false;
            await run();
            return this.#end();
        } finally {
            held.unlock();
        }
    }
}
