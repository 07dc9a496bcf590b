import { reportTo } from '../host/failure.js';

/** @typedef {import('./queue-state.js').QueueState} QueueState */
/** @typedef {(state: QueueState) => void} Listener */

/** The functions that listen to a queue. They are not called from within the core, because they may call the core. */
export class QueueListeners {
    #platform;
    #onListened;

    /** @type {Set<Listener>} */
    #listeners = new Set();

    /**
     * @param {import('../host/host.js').Platform} platform
     * @param {(listened: boolean) => void} onListened called when the first listener has come or the last one has left
     */
    constructor(platform, onListened) {
        this.#platform = platform;
        this.#onListened = onListened;
    }

    /**
     * @param {Listener} listener
     * @param {() => Promise<QueueState>} readState reads the state with which the listener is called first
     * @returns {() => void} removes the listener
     */
    add(listener, readState) {
        /** Events before the first state is known: they are emitted after it. @type {QueueState[] | undefined} */
        let early = [];
        // This is a new function, because one listener may subscribe twice.
        const own = (/** @type {QueueState} */ state) => (early ? void early.push(state) : listener(state));
        if (this.#listeners.size === 0) this.#onListened(true);
        this.#listeners.add(own);
        readState().then(
            (first) => {
                const states = [first, ...(early ?? [])];
                early = undefined;
                for (const state of states) this.#emitTo(own, state);
            },
            () => {}, // the tab was closed
        );
        return () => {
            if (this.#listeners.delete(own) && this.#listeners.size === 0) this.#onListened(false);
        };
    }

    /** Calls all listeners with a state. @param {QueueState} state */
    emit(state) {
        for (const listener of this.#listeners) this.#emitTo(listener, state);
    }

    clear() {
        this.#listeners.clear();
    }

    /**
     * @param {Listener} listener
     * @param {QueueState} state
     */
    #emitTo(listener, state) {
        void Promise.resolve().then(() => {
            if (!this.#listeners.has(listener)) return;
            try {
                listener(state);
            } catch (error) {
                reportTo(this.#platform, error);
            }
        });
    }
}
