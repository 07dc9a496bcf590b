/// <reference lib="esnext.disposable" preserve="true" />
import { show, TabacusError } from '../../common/errors.js';
import { checkOptions } from '../../common/check-arguments.js';
import { checkSignal, checkTimeout } from '../../common/check-waits.js';
import { requestFields, tabReasons, tabStates } from './tab-request-layout.js';
import { orAborted, sleepAsync } from '../waiting.js';

/**
 * A lock over all tabs of the origin, for a thread: the page asks the browser, the thread sleeps on
 * shared memory. The same lock as `tab.lock(name)`; first come, first served with everybody in all tabs.
 *
 * Its holder is this thread, after `lock` or `tryLock`; or one grant, after `lockAsync`. A Worker that
 * is terminated, or closes its attachment, releases it. A held lock can be lost (stolen, the page frozen
 * or hidden in the back/forward cache): then `held` is false and `unlock()` throws, and what is written
 * elsewhere must carry `token`.
 *
 * The page answers from its event loop: a page that is busy answers late.
 *
 * @example
 * const lock = shared.tabLock('report');
 * const token = lock.lock({ timeout: 1000 });
 * try { … } finally { lock.unlock(); }
 */
export class SharedTabLock {
    #core;

    /** Requests of this thread for this lock that nothing uses. @type {number[]} */
    #idle = [];

    /** The requests that wait for the lock, hold it, or have lost it. @type {Set<number>} */
    #used = new Set();

    /** What this thread holds or has lost, and has not unlocked. @type {TabGrant | undefined} */
    #grant;

    /**
     * @param {import('../thread-core.js').ThreadCore} core
     * @param {string} name
     */
    constructor(core, name) {
        this.#core = core;
        /** The name it was opened by. */
        this.name = name;
    }

    /**
     * Blocks until the lock is this thread's. On the thread that made the memory, and on any main thread, a
     * `would-block` error, always: a page must not hang, and it is the page that answers. A `would-deadlock` error if this thread holds
     * the lock already, or awaits it.
     *
     * @param {{ timeout?: number }} [options] `timeout` in milliseconds; then a `TimeoutError`. 0: once the
     *   page has answered
     * @returns {number} the fencing token: it rises with every grant of the name, in all tabs, for ever
     * @throws {TabacusError} what kept the page from taking it: `closed`, `weaker-guarantee`, …
     */
    lock(options = {}) {
        const timeout_ms = checkTimeout(checkOptions(options, ['timeout']).timeout) ?? Infinity;
        this.#assertMayBlock();
        if (this.#used.size > 0) throw this.#deadlock();
        const request = this.#ask(timeout_ms ? tabStates.asked : tabStates.trying);
        const over = this.#sleep(request, timeout_ms || Infinity) === tabStates.over;
        if (over || this.#isRefused(request)) throw this.#timedOut(request);
        return this.#granted(request).token;
    }

    /**
     * Takes the lock if it is available at once, in all tabs. It waits for the page's answer: a `would-block`
     * error where `lock` has one.
     *
     * @returns {boolean} whether it has taken it
     */
    tryLock() {
        this.#assertMayBlock();
        if (this.#used.size > 0) return false;
        const request = this.#ask(tabStates.trying);
        this.#sleep(request, Infinity);
        const refused = this.#isRefused(request);
        if (refused) this.#retire(request);
        else this.#granted(request);
        return !refused;
    }

    /**
     * Waits without blocking. Resolves to a grant; rejects with the signal's reason when aborted, with a
     * `TimeoutError` when the time is over, and then has left the queue. Two grants of one thread exclude
     * each other.
     *
     * A thread that blocks elsewhere while it awaits a lock may have been given it without knowing, and
     * keeps the others out meanwhile.
     *
     * @param {{ signal?: AbortSignal, timeout?: number }} [options] `timeout` in milliseconds; 0: once the page
     *   has answered
     * @returns {Promise<TabGrant>}
     */
    async lockAsync(options = {}) {
        const given = checkOptions(options, ['signal', 'timeout']);
        const signal = checkSignal(given.signal);
        const timeout_ms = checkTimeout(given.timeout) ?? Infinity;
        const deadline_ms = performance.now() + (timeout_ms || Infinity);
        this.#core.assertOpen();
        signal?.throwIfAborted();
        const request = this.#ask(timeout_ms ? tabStates.asked : tabStates.trying);
        try {
            for (let state; isAsked((state = this.#state(request)));) {
                this.#core.assertOpen();
                const rest_ms = deadline_ms - performance.now();
                if (rest_ms <= 0 && this.#giveUp(request)) throw this.#timedOut(request);
                if (rest_ms <= 0) continue;
                const answered = sleepAsync(this.#core.words, this.#wordOf(request), state, rest_ms);
                await orAborted(orAborted(answered, signal), this.#core.ending);
            }
            this.#core.assertOpen();
            if (this.#isRefused(request)) throw this.#timedOut(request);
        } catch (error) {
            this.#retire(request);
            throw error;
        }
        return this.#granted(request);
    }

    /**
     * Releases what this thread holds.
     *
     * @throws {TabacusError} `not-owner` if that is nothing; `lock-lost` if it was lost before: it is
     *   released, and another holder may have been at work since
     */
    unlock() {
        this.#core.assertOpen();
        if (!this.#grant) throw this.#notOwner();
        this.#grant.unlock();
    }

    /** Whether this thread holds it: false, too, once it is lost. */
    get held() {
        return this.#grant !== undefined && this._holds(this.#grant);
    }

    /** The fencing token of what this thread holds. Undefined if that is nothing. */
    get token() {
        return this.#grant?.token;
    }

    /**
     * @param {TabGrant} grant
     * @internal
     */
    _holds(grant) {
        const open = !this.#core.closed && this.#used.has(grant._request);
        return open && this.#state(grant._request) === tabStates.granted;
    }

    /**
     * @param {TabGrant} grant
     * @returns {boolean} whether it was held until then, and not lost
     * @internal
     */
    _release(grant) {
        this.#core.assertOpen();
        if (grant._released || !this.#used.has(grant._request)) throw this.#notOwner();
        grant._released = true;
        if (this.#grant === grant) this.#grant = undefined;
        return this.#retire(grant._request) === tabStates.granted;
    }

    /**
     * A request of its own for C++ threads, which does not end when this thread exits.
     *
     * @param {import('../thread-core.js').ThreadCore} core
     * @returns {number | undefined} undefined if it is of another memory
     * @internal
     */
    _lend(core) {
        return core === this.#core ? core.openRequest(this.name, false) : undefined;
    }

    /** @internal */
    get _closed() {
        return this.#core.closed;
    }

    /** @internal */
    _close() {
        const { ops, root, words, closed } = this.#core;
        if (closed) return;
        for (const request of [...this.#idle, ...this.#used]) {
            ops.request_close(root, request);
            Atomics.notify(words, this.#wordOf(request)); // a promise of this thread that is abandoned
        }
        this.#idle = [];
        this.#used.clear();
        this.#grant = undefined;
    }

    #assertMayBlock() {
        this.#core.assertOpen();
        if (this.#core.maySleep && !this.#core.answers) return;
        throw new TabacusError(
            'would-block',
            'a main thread, and the page that answers, must not block: await lockAsync() instead',
        );
    }

    /** @param {number} how */
    #ask(how) {
        const core = this.#core;
        const request = this.#idle.pop() ?? core.openRequest(this.name);
        this.#used.add(request);
        core.ops.request_ask(core.root, request, how);
        return request;
    }

    /**
     * Sleeps until the page has answered, or gives up.
     *
     * @param {number} request
     * @param {number} timeout_ms
     * @returns {number} the request's state
     */
    #sleep(request, timeout_ms) {
        const deadline_ms = performance.now() + timeout_ms;
        for (let state; ;) {
            if (!isAsked((state = this.#state(request)))) return state;
            const rest_ms = deadline_ms - performance.now();
            if (rest_ms > 0) Atomics.wait(this.#core.words, this.#wordOf(request), state, rest_ms);
            else if (this.#giveUp(request)) return tabStates.over;
        }
    }

    /**
     * @param {number} request answered
     * @returns {TabGrant}
     */
    #granted(request) {
        if (this.#state(request) === tabStates.refused) {
            const reason = this.#reason(request);
            this.#retire(request);
            throw new TabacusError(
                reason || 'unavailable',
                `the page could not take ${show(this.name)}: ${reason}`,
            );
        }
        const words = this.#core.words;
        const at = (request + requestFields.token) >> 2;
        const [low = 0, high = 0] = words.subarray(at, at + 2);
        return (this.#grant = new TabGrant(this, request, high * 2 ** 32 + (low >>> 0)));
    }

    /** @param {number} request */
    #reason(request) {
        return tabReasons[Number(this.#core.words[(request + requestFields.reason) >> 2])] ?? '';
    }

    /** @param {number} request tried @returns {boolean} whether it was not free */
    #isRefused(request) {
        return this.#state(request) === tabStates.refused && this.#reason(request) === '';
    }

    /** @param {number} request */
    #wordOf(request) {
        return (request + requestFields.state) >> 2;
    }

    /** @param {number} request */
    #state(request) {
        return Atomics.load(this.#core.words, this.#wordOf(request));
    }

    /** @param {number} request */
    #giveUp(request) {
        return this.#core.ops.request_give_up(this.#core.root, request) !== 0;
    }

    /**
     * Asks and holds nothing any more. Nothing is done to one that _close() has given back.
     *
     * @param {number} request
     * @returns {number | undefined} the state that it was in
     */
    #retire(request) {
        if (!this.#used.delete(request)) return undefined;
        this.#idle.push(request);
        const { ops, root, words } = this.#core;
        const was = ops.request_release(root, request);
        Atomics.notify(words, this.#wordOf(request)); // a promise of this thread that was abandoned
        return was;
    }

    /** @param {number} request */
    #timedOut(request) {
        this.#retire(request);
        return new DOMException(`${show(this.name)} was not free in time`, 'TimeoutError');
    }

    #deadlock() {
        return new TabacusError(
            'would-deadlock',
            `this thread holds, has lost or awaits ${show(this.name)} already, and would wait for itself`,
        );
    }

    #notOwner() {
        return new TabacusError(
            'not-owner',
            `${show(this.name)} is not held here; only its owner can unlock it`,
        );
    }
}

/** @param {number} state */
const isAsked = (state) => state === tabStates.asked || state === tabStates.trying;

/** @type {typeof Symbol.dispose} */
const dispose = /** @type {any} */ (Symbol.dispose ?? Symbol.for('Symbol.dispose'));

/** One acquisition by `lockAsync`. `unlock()` once; leaving a `using` scope does it, too. */
export class TabGrant {
    #lock;

    /** @internal */
    _released = false;

    /**
     * @param {SharedTabLock} lock
     * @param {number} request
     * @param {number} token
     * @internal
     */
    constructor(lock, request, token) {
        this.#lock = lock;
        /** @internal */
        this._request = request;
        /** The fencing token: it rises with every grant of the name, in all tabs, for ever. */
        this.token = token;
    }

    /** Whether it holds the lock still: false, too, once it is lost. */
    get held() {
        return !this._released && this.#lock._holds(this);
    }

    /** @throws {TabacusError} `not-owner` if it was released before; `lock-lost` if it was lost */
    unlock() {
        if (this.#lock._release(this)) return;
        throw new TabacusError(
            'lock-lost',
            `${show(this.#lock.name)} was lost: stolen, or its page frozen or closed`,
        );
    }

    /** Releases it, also if it was lost. */
    [dispose]() {
        if (!this._released && !this.#lock._closed) this.#lock._release(this);
    }
}
