import { attempt, isOpaque } from './failure.js';

/**
 * Marks a LockManager of js/polyfill.js. It is a registered symbol, so that another copy of the package
 * recognises it.
 */
export const polyfilled = Symbol.for('tabacus.locks');

/** Web Locks (W3C Web Locks API). The core identifies each by the number of its request. */
export class LocksHost {
    /** @type {LockManager | undefined} */
    manager;

    #lifecycle;
    #report;

    /**
     * The ways to end each request: `release` its lock, `abort` its wait, or `giveUp`, which reports that it
     * was not granted.
     * @type {Map<number, { release: () => void, abort: () => void, giveUp?: () => void }>}
     */
    #requests = new Map();

    /**
     * Functions that make the requests which came while the page was being left, by the numbers of the
     * requests.
     * @type {Map<number, () => void>}
     */
    #later = new Map();

    #disposed = false;

    /** Whether new documents of the origin have another lock manager than this one (lock-probe.js). */
    cutOff = false;

    /** Whether the browser has Web Locks, and refuses every request. */
    #refused = false;

    /**
     * @param {import('./host.js').Platform} platform
     * @param {{ readonly going: boolean }} lifecycle
     * @param {import('./host.js').HostEvents} report
     */
    constructor(platform, lifecycle, report) {
        const manager = isOpaque(platform) ? undefined : attempt(() => platform.navigator?.locks);
        // The locks of js/polyfill.js are built on tabacus: using them here would be circular.
        this.manager = manager && polyfilled in manager ? undefined : manager;
        this.#lifecycle = lifecycle;
        this.#report = report;
    }

    get available() {
        return this.manager !== undefined;
    }

    /**
     * Finds out whether Web Locks refuse requests. If so, they are treated as absent.
     *
     * @returns {Promise<boolean>}
     */
    async refuses() {
        try {
            await this.manager?.request('tabacus', { mode: 'shared', ifAvailable: true }, () => {});
        } catch (error) {
            if (/** @type {any} */ (error)?.name === 'SecurityError') {
                this.manager = undefined;
                this.#refused = true;
            }
        }
        return this.#refused;
    }

    /**
     * Requests a lock. The operation `id` is settled when the lock is granted, and fails if it is not.
     *
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
        // The specification refuses a signal together with either option (§4.1, NotSupportedError).
        const signal = options.ifAvailable || options.steal ? {} : { signal: controller.signal };
        Promise.resolve(this.manager?.request(name, { ...options, ...signal }, grant))
            .then(() => this.#requests.delete(id))
            .catch(refuse);
    }

    /** Releases a granted lock. @param {number} id */
    release(id) {
        this.#requests.get(id)?.release();
    }

    /** Withdraws a request that waits. @param {number} id */
    abort(id) {
        this.#requests.get(id)?.abort();
        if (this.#later.delete(id)) this.#report.failed(id, 'lock-lost', 'the request was withdrawn');
    }

    /**
     * Ends the requests that were pending when the page was left, since the browser reports nothing about
     * them after the page is back. Then makes the requests that were kept meanwhile.
     */
    returned() {
        for (const { giveUp } of [...this.#requests.values()]) giveUp?.();
        const later = [...this.#later.values()];
        this.#later.clear();
        for (const request of later) request();
    }

    /** Releases all locks, also those that are granted after this call, and withdraws all requests. */
    dispose() {
        this.#disposed = true;
        for (const request of this.#requests.values()) {
            request.abort();
            request.release();
        }
    }
}

/**
 * Returns the failure that an exception of Web Locks stands for.
 *
 * @param {unknown} error
 * @returns {import('./failure.js').Failure}
 */
export function refusal(error) {
    const { name, message } = /** @type {Partial<DOMException>} */ (error ?? {});
    return [name === 'AbortError' ? 'lock-lost' : 'unavailable', `${name}: ${message}`];
}
