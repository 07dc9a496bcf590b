/** navigator.locks (W3C Web Locks API §3) over the rules' lock manager. */

import { unlimited } from '../common/listener-limit.web.js';
import { checkRequest, invoked, requestFrom, stolenMessage } from '../../platform/lock-request.js';
import { internal } from '../../platform/web-idl.js';
import { HandleTable } from '../common/handle-table.js';

/** @typedef {import('../context.js').Context} Context */

/**
 * A request, from the call of request() until its promise is settled.
 * @typedef {object} Request
 * @property {string} name
 * @property {import('../../platform/lock-request.js').RequestOptions} options
 * @property {(lock: object | null) => unknown} callback
 * @property {(value: unknown) => void} resolve
 * @property {(reason: unknown) => void} reject
 * @property {() => void} forget removes the listener from the signal
 * @property {(outcome: unknown) => void} settle `resolve` or `reject`, depending on the promise of the callback
 * @property {boolean} granted
 * @property {unknown} outcome the value or reason of the promise of the callback
 */

const forgetNothing = () => {};

/** The error of a call that the browser forbids. */
const forbidden = () => new DOMException('access to locks is denied in this context', 'SecurityError');

/** The requests of one context to the lock manager, by number. */
export class ContextLocks {
    /** @type {HandleTable<Request>} */
    #requests = new HandleTable();
    /** @type {HandleTable<(snapshot: object) => void>} */
    #queries = new HandleTable();
    #context;

    /** @param {Context} context */
    constructor(context) {
        this.#context = context;
    }

    /** Whether a request waits for its grant. */
    get waiting() {
        return this.#requests.values.some(({ granted }) => !granted);
    }

    /** Requests a lock (§3.2.1). @param {ArrayLike<any>} given @returns {Promise<unknown>} */
    request(given) {
        const { name, options, callback } = requestFrom(given);
        this.#checkContext();
        checkRequest(name, options);
        const context = this.#context;
        return new Promise((resolve, reject) => {
            /** @type {Request} */
            const request = {
                name,
                options,
                callback,
                resolve,
                reject,
                forget: forgetNothing,
                settle: forgetNothing,
                granted: false,
                outcome: undefined,
            };
            const number = this.#requests.add(request);
            this.#listen(number, request);
            context.rules.mark();
            context.rules.request(context.id, number, name, options);
            context.origin.wake();
        });
    }

    /**
     * Aborts the request when its signal does (§4.3, "signal to abort a request").
     *
     * @param {number} number
     * @param {Request} request
     */
    #listen(number, request) {
        const { signal } = request.options;
        if (!signal) return;
        const abort = () => {
            // The listener may outlive its request, and then another request may have the number.
            if (!this.#context.alive || this.#requests.get(number) !== request) return;
            this.#context.rules.calls.abortLock(this.#context.id, number);
            const text = () => `aborts its request for the lock ${request.name}`;
            this.#context.rules.trace(this.#context.id, 'lock', text);
            this.#context.origin.wake();
            request.reject(signal.reason);
        };
        unlimited(signal);
        signal.addEventListener('abort', abort, { once: true });
        request.forget = () => signal.removeEventListener('abort', abort);
    }

    /** @returns {Promise<object>} */
    query() {
        this.#checkContext();
        if (this.#context.tab._deniesQuery) throw forbidden();
        return new Promise((resolve) => {
            const number = this.#queries.add(resolve);
            this.#context.rules.calls.queryLocks(this.#context.id, number);
            this.#context.origin.wake();
        });
    }

    /** The first two steps of §3.2.1 and §3.2.2. */
    #checkContext() {
        if (!this.#context.fullyActive)
            throw new DOMException('the document is not fully active', 'InvalidStateError');
        this.#context.checkStorable('locks');
        if (this.#context.tab._refusesLocks) throw forbidden();
    }

    /**
     * Invokes the callback in the task that the grant queues, unless the signal has aborted (§4.4).
     *
     * @param {number} number
     */
    granted(number) {
        const request = this.#requests.get(number);
        if (!request) return;
        if (request.options.signal?.aborted) {
            this.#release(number);
            return;
        }
        request.granted = true;
        request.forget();
        const lock = new (this.#context.original('Lock'))(internal, request.name, request.options.mode);
        this.#follow(number, request, invoked(request.callback, lock));
    }

    /**
     * Releases the lock once the promise of the callback is settled; then released() settles that of the request
     * (§4.2).
     *
     * @param {number} number
     * @param {Request} request
     * @param {Promise<unknown>} waiting
     */
    async #follow(number, request, waiting) {
        try {
            request.outcome = await waiting;
            request.settle = request.resolve;
        } catch (error) {
            request.outcome = error;
            request.settle = request.reject;
        }
        this.#release(number);
    }

    /** @param {number} number */
    #release(number) {
        if (!this.#context.alive) return;
        this.#context.rules.release(this.#context.id, number);
        this.#context.origin.wake();
    }

    /**
     * Settles the promise of a request as that of its callback, once the lock is released (§4.2).
     *
     * @param {number} number
     */
    released(number) {
        const request = this.#requests.take(number);
        request?.settle(request.outcome);
    }

    /**
     * Invokes the callback of an `ifAvailable` request without a lock, since it is not available (§4.1).
     *
     * @param {number} number
     */
    unavailable(number) {
        const request = this.#requests.take(number);
        if (!request) return;
        const whileAlive =
            (/** @type {(outcome: unknown) => void} */ settle) => (/** @type {unknown} */ outcome) => {
                if (this.#context.alive) settle(outcome);
            };
        invoked(request.callback, null).then(whileAlive(request.resolve), whileAlive(request.reject));
    }

    /**
     * Rejects the promise of a previous holder after a steal. Nothing that it does later changes that (§4.1).
     *
     * @param {number} number
     */
    stolen(number) {
        this.#requests.get(number)?.reject(new DOMException(stolenMessage, 'AbortError'));
    }

    /** @param {number} number @param {import('../emulator.js').Snapshot} snapshot */
    snapshot(number, { held, pending }) {
        const { origin } = this.#context;
        const infos = (/** @type {import('../emulator.js').LockEntry[]} */ locks) =>
            locks.map(({ client, mode, name }) => ({ clientId: origin.clientId(client), mode, name }));
        this.#queries.take(number)?.({ held: infos(held), pending: infos(pending) });
    }
}
