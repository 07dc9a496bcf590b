/**
 * The part of the platform that Retries uses.
 *
 * @typedef {object} RetryPlatform
 * @property {EventTarget & { readonly visibilityState: string }} [document]
 * @property {(type: string, listener: (event: any) => void) => void} [addEventListener]
 * @property {(type: string, listener: (event: any) => void) => void} [removeEventListener]
 */

/** Repeats failed loads when the device is online again and when the page becomes visible. */
export class Retries {
    #platform;

    /** @type {Set<() => void>} */
    #calls = new Set();

    #ended = false;

    /** @param {RetryPlatform} platform */
    constructor(platform) {
        this.#platform = platform;
    }

    /** Adds a load that has failed. @param {() => void} again repeats it; called at most once */
    add(again) {
        if (this.#ended) return;
        if (this.#calls.size === 0) {
            this.#platform.addEventListener?.('online', this.#back);
            this.#platform.document?.addEventListener('visibilitychange', this.#shown);
        }
        this.#calls.add(again);
    }

    /** Drops all failed loads, and ignores later ones. */
    end() {
        this.#ended = true;
        this.#take();
    }

    #back = () => {
        for (const again of this.#take()) again();
    };

    #shown = () => {
        if (this.#platform.document?.visibilityState === 'visible') this.#back();
    };

    /** Removes all failed loads and the listeners of the platform. Returns the loads. */
    #take() {
        if (this.#calls.size === 0) return [];
        this.#platform.removeEventListener?.('online', this.#back);
        this.#platform.document?.removeEventListener('visibilitychange', this.#shown);
        const calls = [...this.#calls];
        this.#calls.clear();
        return calls;
    }
}
