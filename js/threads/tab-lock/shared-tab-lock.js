/// <reference lib="esnext.disposable" preserve="true" />
import { show, TabacusError } from '../../common/errors.js';
import { checkOptions } from '../../common/check-arguments.js';
import { checkSignal, checkTimeout } from '../../common/check-waits.js';
import { requestFields, tabReasons, tabStates } from './tab-request-layout.js';
import { orAborted, sleepAsync } from '../waiting.js';

/**
 * A lock over all tabs of the origin, for a thread. It is the same lock as `tab.lock(name)`, and requests of
 * all threads and tabs are served first come, first served. The page acquires the lock on behalf of the
 * thread, which meanwhile sleeps on shared memory. `shared.tabLock(name)` returns it.
 *
 * After `lock` or `tryLock`, the thread holds the lock; after `lockAsync`, one grant holds it. If a Worker is
 * terminated or closes its attachment, its lock is released. A held lock can be lost: another tab may steal
 * it, and the browser may freeze the page or put it in the back/forward cache. Then `held` is false and
 * `unlock()` throws. Writes to other stores must therefore carry `token`, so that the store can refuse those
 * of a previous holder.
 *
 * The page answers requests in its event loop, so a page that is busy answers late.
 *
 * @example
 * const lock = shared.tabLock('report');
 * const token = lock.lock({ timeout: 1000 }); // in a Worker
 * try {
 *     work(token);
 * } finally {
 *     lock.unlock();
 * }
 */
export class SharedTabLock {
    #core;

    /** The addresses of this thread's requests that are not in use. @type {number[]} */
    #idle = [];

    /** The addresses of the requests that wait for the lock, hold it, or have lost it. @type {Set<number>} */
    #used = new Set();

    /**
     * The grant of this thread that holds or has lost the lock, and is not released.
     * @type {TabGrant | undefined}
     */
    #grant;

    /**
     * @param {import('../thread-core.js').ThreadCore} core
     * @param {string} name
     */
    constructor(core, name) {
        this.#core = core;
        /** The name that was passed to shared.tabLock(). */
        this.name = name;
    }

    /**
     * Blocks until this thread holds the lock.
     *
     * @param {{ timeout?: number }} [options] `timeout`: the longest wait in milliseconds, from 0 to 2^31 −
     *   1. With 0 the thread waits only for the page's answer whether the lock is free
     * @returns {number} the fencing token, which is greater than that of every earlier grant of the name in
     *   all tabs
     * @throws {TabacusError} `would-block` on any main thread, and on the thread that made the memory,
     *   because that thread answers requests and must not hang; `would-deadlock` if this thread holds the
     *   lock or waits for it already; the code of the page's error if the page cannot acquire the lock, such
     *   as `closed` or `weaker-guarantee`
     * @throws {DOMException} `TimeoutError`
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
     * Acquires the lock if no tab holds it. It blocks until the page has answered.
     *
     * @returns {boolean} whether it has acquired the lock
     * @throws {TabacusError} `would-block` where lock() throws it, or the code of the page's error
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
     * Acquires the lock without blocking the thread. Two grants of one thread exclude each other.
     *
     * Do not block the thread elsewhere while it waits for a lock: it may be granted the lock, which then
     * excludes all others until the thread runs again.
     *
     * @param {{ signal?: AbortSignal, timeout?: number }} [options] end the wait; `timeout` is in
     *   milliseconds, from 0 to 2^31 − 1. With 0 the call waits only for the page's answer whether the lock
     *   is free
     * @returns {Promise<TabGrant>} rejects with the signal's reason or a `TimeoutError`, after the request is
     *   withdrawn; or with `invalid-argument`, `closed` or the code of the page's error
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
     * Releases the lock.
     *
     * @throws {TabacusError} `not-owner` if this thread does not hold the lock; `lock-lost` if the lock was
     *   lost, so that another tab may have held it meanwhile (it is released all the same); `closed`
     */
    unlock() {
        this.#core.assertOpen();
        if (!this.#grant) throw this.#notOwner();
        this.#grant.unlock();
    }

    /** Whether this thread holds the lock. It is false once the lock is lost. */
    get held() {
        return this.#grant !== undefined && this._holds(this.#grant);
    }

    /** The fencing token of this thread's grant; undefined if there is none, or if it is released. */
    get token() {
        return this.#grant?.token;
    }

    /**
     * Whether a grant holds the lock.
     *
     * @param {TabGrant} grant
     * @internal
     */
    _holds(grant) {
        const open = !this.#core.closed && this.#used.has(grant._request);
        return open && this.#state(grant._request) === tabStates.granted;
    }

    /**
     * Releases a grant.
     *
     * @param {TabGrant} grant
     * @returns {boolean} whether the grant held the lock; false if it had lost it
     * @throws {TabacusError} `not-owner`, `closed`
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
     * Makes a request for use by C++ threads, which does not end when this thread exits.
     *
     * @param {import('../thread-core.js').ThreadCore} core
     * @returns {number | undefined} its address; undefined if the lock belongs to another memory
     * @internal
     */
    _lend(core) {
        return core === this.#core ? core.openRequest(this.name, false) : undefined;
    }

    /** Whether this thread's attachment is closed. @internal */
    get _closed() {
        return this.#core.closed;
    }

    /** Releases the lock and withdraws the requests of this thread, when its attachment closes. @internal */
    _close() {
        const { ops, root, words, closed } = this.#core;
        if (closed) return;
        for (const request of [...this.#idle, ...this.#used]) {
            ops.request_close(root, request);
            Atomics.notify(words, this.#wordOf(request)); // settles an abandoned sleep of this thread
        }
        this.#idle = [];
        this.#used.clear();
        this.#grant = undefined;
    }

    /** @throws {TabacusError} `would-block` if this thread must not block; `closed` */
    #assertMayBlock() {
        this.#core.assertOpen();
        if (this.#core.maySleep && !this.#core.answers) return;
        throw new TabacusError(
            'would-block',
            'a main thread, and the page that answers, must not block: await lockAsync() instead',
        );
    }

    /**
     * Makes a request of the page.
     *
     * @param {number} how the state of the request: asked or trying
     * @returns {number} its address
     */
    #ask(how) {
        const core = this.#core;
        const request = this.#idle.pop() ?? core.openRequest(this.name);
        this.#used.add(request);
        core.ops.request_ask(core.root, request, how);
        return request;
    }

    /**
     * Sleeps until the page has answered. Gives up after the timeout.
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
     * Returns the grant of a request that the page has answered. Throws the page's error if it was refused.
     *
     * @param {number} request
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

    /**
     * Returns why the page has refused a request; empty if the lock was not available.
     *
     * @param {number} request
     */
    #reason(request) {
        return tabReasons[Number(this.#core.words[(request + requestFields.reason) >> 2])] ?? '';
    }

    /**
     * Whether a request that did not wait was refused because the lock was not free.
     *
     * @param {number} request
     * @returns {boolean}
     */
    #isRefused(request) {
        return this.#state(request) === tabStates.refused && this.#reason(request) === '';
    }

    /** Returns the index of the word with the state of a request. @param {number} request */
    #wordOf(request) {
        return (request + requestFields.state) >> 2;
    }

    /** Reads the state of a request. @param {number} request */
    #state(request) {
        return Atomics.load(this.#core.words, this.#wordOf(request));
    }

    /**
     * Withdraws a request, unless it is answered. Returns whether it is withdrawn.
     *
     * @param {number} request
     */
    #giveUp(request) {
        return this.#core.ops.request_give_up(this.#core.root, request) !== 0;
    }

    /**
     * Ends the use of a request: releases its lock, or withdraws it. Does nothing if _close() has given the
     * request back.
     *
     * @param {number} request
     * @returns {number | undefined} the state in which it was
     */
    #retire(request) {
        if (!this.#used.delete(request)) return undefined;
        this.#idle.push(request);
        const { ops, root, words } = this.#core;
        const was = ops.request_release(root, request);
        Atomics.notify(words, this.#wordOf(request)); // settles an abandoned sleep of this thread
        return was;
    }

    /** Ends the use of a request, and returns the error of a timeout. @param {number} request */
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

/** Whether a request in this state waits for the page's answer. @param {number} state */
const isAsked = (state) => state === tabStates.asked || state === tabStates.trying;

/** @type {typeof Symbol.dispose} */
const dispose = /** @type {any} */ (Symbol.dispose ?? Symbol.for('Symbol.dispose'));

/**
 * One acquisition of a lock by `lockAsync`. It is released by `unlock()`, or at the end of the block of a
 * `using`.
 */
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
        /** The fencing token, which is greater than that of every earlier grant of the name in all tabs. */
        this.token = token;
    }

    /** Whether this grant holds the lock. It is false once the lock is lost. */
    get held() {
        return !this._released && this.#lock._holds(this);
    }

    /**
     * Releases the lock.
     *
     * @throws {TabacusError} `not-owner` if this grant is already released; `lock-lost` if the lock was lost;
     *   `closed`
     */
    unlock() {
        if (this.#lock._release(this)) return;
        throw new TabacusError(
            'lock-lost',
            `${show(this.#lock.name)} was lost: stolen, or its page frozen or closed`,
        );
    }

    /**
     * Releases the lock at the end of a `using` block. Does not throw if the lock was lost or is already
     * released.
     */
    [dispose]() {
        if (!this._released && !this.#lock._closed) this.#lock._release(this);
    }
}
