import { attempt, isOpaque } from './failure.js';

/** On a LockManager that is no browser's: a registered symbol, so that two copies of the package know each other. */
export const polyfilled = Symbol.for('tabacus.locks');

/** Web Locks (W3C Web Locks API), each known to the core by the number of its request. */
export class LocksHost {
    /** @type {LockManager | undefined} */
    manager;

    #lifecycle;
    #report;

    /**
     * Ends a request: releases its lock, or withdraws it from the queue; or reports that it was not granted.
     * @type {Map<number, { release: () => void, abort: () => void, giveUp?: () => void }>}
     */
    #requests = new Map();

    /**
     * Requests of a page that is being left, by their number.
     * @type {Map<number, () => void>}
     */
    #later = new Map();

    #disposed = false;

    /**
     * @param {import('./host.js').Platform} platform
     * @param {{ readonly going: boolean }} lifecycle
     * @param {import('./host.js').HostEvents} report
     */
    constructor(platform, lifecycle, report) {
        const manager = isOpaque(platform) ? undefined : attempt(() => platform.navigator?.locks);
        // Our own (js/polyfill.js) are built on what they would then be built on.
        this.manager = manager && polyfilled in manager ? undefined : manager;
        this.#lifecycle = lifecycle;
        this.#report = report;
    }

    get available() {
        return this.manager !== undefined;
    }

    /** @returns {Promise<void>} when it is known whether they refuse every call, and then there are none */
    async probe() {
        try {
            await this.manager?.query?.();
        } catch (error) {
            if (/** @type {any} */ (error)?.name === 'SecurityError') this.manager = undefined;
        }
    }

    /**
     * @param {number} id
     * @param {string} name
     * @param {{ mode: 'exclusive' | 'shared', ifAvailable: boolean, steal: boolean }} options
     */
    request(id, name, options) {
        if (this.#lifecycle.going) {
            this.#later.set(id, () => this.request(id, name, options));
            return;
        }
        const controller = new AbortController();
        let granted = false;
        /** @param {Lock | null} lock */
        const grant = (lock) => {
            if (!this.#requests.has(id)) return undefined;
            if (!lock || this.#disposed) {
                this.#requests.delete(id);
                this.#report.settled(id, ['unavailable']);
                return undefined;
            }
            granted = true;
            return new Promise((resolve) => {
                this.#requests.set(id, { release: () => resolve(undefined), abort: () => {} });
                this.#report.settled(id);
            });
        };
        /** @param {unknown} error */
        const refuse = (error) => {
            if (!this.#requests.delete(id)) return;
            if (granted) this.#report.lockLost(id);
            else this.#report.failed(id, ...refusal(error));
        };
        const giveUp = options.ifAvailable
            ? () => grant(null)
            : () => refuse(new DOMException('the page was left', 'AbortError'));
        this.#requests.set(id, { release: () => {}, abort: () => controller.abort(), giveUp });
        // A signal together with either is refused by the specification (§4.1, NotSupportedError).
        const signal = options.ifAvailable || options.steal ? {} : { signal: controller.signal };
        Promise.resolve(this.manager?.request(name, { ...options, ...signal }, grant))
            .then(() => this.#requests.delete(id))
            .catch(refuse);
    }

    /** @param {number} id */
    release(id) {
        this.#requests.get(id)?.release();
    }

    /** @param {number} id */
    abort(id) {
        this.#requests.get(id)?.abort();
        if (this.#later.delete(id)) this.#report.failed(id, 'lock-lost', 'the request was withdrawn');
    }

    /** The page is back: nothing that was under way when it was left will ever be reported. */
    returned() {
        for (const { giveUp } of [...this.#requests.values()]) giveUp?.();
        const later = [...this.#later.values()];
        this.#later.clear();
        for (const request of later) request();
    }

    /** Lets all go, and whatever is granted after this. */
    dispose() {
        this.#disposed = true;
        for (const request of this.#requests.values()) {
            request.abort();
            request.release();
        }
    }
}

/**
 * @param {unknown} error
 * @returns {import('./failure.js').Failure}
 */
export function refusal(error) {
    const { name, message } = /** @type {Partial<DOMException>} */ (error ?? {});
    return [name === 'AbortError' ? 'lock-lost' : 'unavailable', `${name}: ${message}`];
}
