/// <reference lib="esnext.disposable" preserve="true" />
import { show, TabacusError } from '../common/errors.js';
import { acquired, recordBits, recordFields, rwModes, unlocks } from './arena-layout.js';
import { holds, settled, tooMany, waitBlocking } from './record-wait.js';
import { asyncLimits, blockingDeadline, blocksUntil } from './wait-limits.js';

/** @typedef {'shared' | 'exclusive'} RwMode */

/**
 * A reader-writer lock in shared memory. All threads that open the same name get the same lock: many hold it
 * shared, or one holds it exclusively. Blocking and asynchronous waiters wait in one queue.
 * `shared.rwLock(name)` returns it.
 *
 * The lock is phase-fair (Brandenburg and Anderson, 2010), so that neither readers nor writers starve: when a
 * writer unlocks, all readers that wait are granted together, before the next writer; readers that come while
 * a writer waits wait behind it; writers are granted in the order of their requests. A grant is handed to its
 * waiter. So an asynchronous waiter whose thread is busy holds the lock until that thread goes on.
 *
 * The lock is robust. A thread that dies (it is terminated, or closes its attachment) holds nothing any more.
 * If it held the lock exclusively, then what the lock guards may be inconsistent: each grant has `ownerDied`
 * true, until a thread that holds the lock exclusively has repaired it and called `markConsistent()`. If that
 * thread unlocks without the call, the lock is `not-recoverable` for all threads. `attach()` describes which
 * deaths are noticed.
 *
 * @example
 * const reading = await shared.rwLock('table').lockSharedAsync();
 * try {
 *     work(); // others may read, and nobody writes
 * } finally {
 *     reading.unlock();
 * }
 */
export class SharedRwLock {
    #core;
    #at;

    /**
     * The records of this thread's holds that have no grant.
     * @type {Record<RwMode, number[]>}
     */
    #held = { shared: [], exclusive: [] };

    /**
     * @param {import('./thread-core.js').ThreadCore} core
     * @param {string} name
     * @param {number} at
     */
    constructor(core, name, at) {
        this.#core = core;
        this.#at = at;
        /** The name that was passed to shared.rwLock(). */
        this.name = name;
    }

    /**
     * Blocks until this thread holds the lock shared. `unlockShared()` releases it.
     *
     * @param {{ timeout?: number }} [options] `timeout`: the longest wait in milliseconds, from 0 to 2^31 − 1
     * @returns {boolean} whether an owner has died, as `ownerDied` of a grant
     * @throws {TabacusError} `would-block` on a page's main thread, even if the lock is free; `would-deadlock` if
     *   this thread holds the lock already, in any mode; `not-recoverable`; `out-of-memory` if there are 512
     *   requests and holds; `invalid-argument`; `closed`
     * @throws {DOMException} `TimeoutError`
     */
    lockShared(options) {
        return this.#lock('shared', options);
    }

    /**
     * Blocks until this thread holds the lock exclusively. `unlockExclusive()` releases it.
     *
     * @param {{ timeout?: number }} [options] as of lockShared()
     * @returns {boolean} whether an owner has died, as `ownerDied` of a grant
     * @throws {TabacusError} as lockShared() does
     * @throws {DOMException} `TimeoutError`
     */
    lockExclusive(options) {
        return this.#lock('exclusive', options);
    }

    /**
     * Acquires the lock shared, if no thread holds it exclusively or waits for that. It never blocks.
     *
     * @returns {boolean} whether it has acquired the lock
     * @throws {TabacusError} `not-recoverable`; `out-of-memory`; `closed`
     */
    tryLockShared() {
        return this.#tryLock('shared');
    }

    /**
     * Acquires the lock exclusively, if it is free. It never blocks.
     *
     * @returns {boolean} whether it has acquired the lock
     * @throws {TabacusError} `not-recoverable`; `out-of-memory`; `closed`
     */
    tryLockExclusive() {
        return this.#tryLock('exclusive');
    }

    /**
     * Acquires the lock shared, without blocking the thread.
     *
     * @param {{ signal?: AbortSignal, timeout?: number }} [options] end the wait; `timeout` is in
     *   milliseconds, from 0 to 2^31 − 1
     * @returns {Promise<RwGrant>} rejects with the signal's reason, with a `TimeoutError`, or with
     *   `not-recoverable`, `out-of-memory`, `invalid-argument` or `closed`
     */
    async lockSharedAsync(options) {
        return this.#lockAsync('shared', options);
    }

    /**
     * Acquires the lock exclusively, without blocking the thread.
     *
     * @param {{ signal?: AbortSignal, timeout?: number }} [options] as of lockSharedAsync()
     * @returns {Promise<RwGrant>} rejects as lockSharedAsync() does
     */
    async lockExclusiveAsync(options) {
        return this.#lockAsync('exclusive', options);
    }

    /**
     * Releases the lock that lockShared() or tryLockShared() has acquired.
     *
     * @throws {TabacusError} `not-owner` if this thread does not hold it shared; `closed`
     */
    unlockShared() {
        this.#unlock('shared');
    }

    /**
     * Releases the lock that lockExclusive() or tryLockExclusive() has acquired. If `ownerDied` is true, the
     * lock becomes `not-recoverable`.
     *
     * @throws {TabacusError} `not-owner` if this thread does not hold it exclusively; `closed`
     */
    unlockExclusive() {
        this.#unlock('exclusive');
    }

    /**
     * Whether this thread holds the lock without a grant, a writer has died before, and `markConsistent()` has
     * not been called. Then what the lock guards is in the state in which that writer left it.
     *
     * @throws {TabacusError} `closed`
     */
    get ownerDied() {
        this.#core.assertOpen();
        const [record] = [...this.#held.exclusive, ...this.#held.shared];
        return record !== undefined && this._ownerDied(record);
    }

    /**
     * Declares that what the lock guards is consistent again. Does nothing if no owner has died.
     *
     * @throws {TabacusError} `not-owner` if this thread does not hold the lock exclusively, without a grant;
     *   `closed`
     */
    markConsistent() {
        this.#core.assertOpen();
        if (this.#held.exclusive.length === 0) throw this._notOwner();
        this._markConsistent();
    }

    /** Declares what the lock guards to be consistent. Requires that this thread holds it exclusively. */
    _markConsistent() {
        this.#core.assertOpen();
        this.#core.ops.rw_mark_consistent(this.#at, this.#core.id);
    }

    /**
     * Whether a writer died before this hold, and what it left is not declared to be consistent.
     *
     * @param {number} record
     */
    _ownerDied(record) {
        const state = Atomics.load(this.#core.words, (record + recordFields.state) >> 2);
        return (state & recordBits.afterDeath) !== 0;
    }

    /** Releases a hold. @param {number} record */
    _release(record) {
        this.#core.assertOpen();
        const result = this.#core.ops.rw_release(this.#at, this.#core.id, record);
        if (result !== unlocks.released) throw this._notOwner();
    }

    _notOwner() {
        return new TabacusError(
            'not-owner',
            `${show(this.name)} is not held here; only its owner can unlock it`,
        );
    }

    /**
     * Publishes a request.
     *
     * @param {RwMode} mode
     * @param {number} [blocks] what blocksUntil() returns if the thread blocks; otherwise 0
     * @returns {import('./record-wait.js').Request}
     */
    #request(mode, blocks = 0) {
        const { ops, id } = this.#core;
        const record = ops.rw_request(this.#at, id, rwModes[mode], blocks);
        if (record === 0) throw tooMany(this.name);
        if (record === wouldDeadlock) {
            throw new TabacusError(
                'would-deadlock',
                `this thread holds ${show(this.name)} already, and would wait for itself`,
            );
        }
        return {
            record,
            settle: (giveUp) => ops.rw_settle(this.#at, id, record, giveUp),
            giveBack: () => void ops.rw_release(this.#at, id, record),
        };
    }

    /** @param {RwMode} mode @param {{ timeout?: number } | undefined} options */
    #lock(mode, options) {
        const deadline_ms = blockingDeadline(this.#core, options, `lock${names[mode]}Async`);
        const { record, settle } = this.#request(mode, blocksUntil(deadline_ms));
        waitBlocking(this.#core, record, deadline_ms);
        const result = this.#check(settle(1));
        this.#held[mode].push(record);
        return result === acquired.ownerDied;
    }

    /** @param {RwMode} mode */
    #tryLock(mode) {
        this.#core.assertOpen();
        const { record, settle } = this.#request(mode);
        const result = settle(giveUpSoon);
        if (result === acquired.timedOut) return false;
        this.#check(result);
        this.#held[mode].push(record);
        return true;
    }

    /** @param {RwMode} mode @param {{ signal?: AbortSignal, timeout?: number }} [options] */
    async #lockAsync(mode, options = {}) {
        const limits = asyncLimits(this.#core, options);
        const request = this.#request(mode);
        this.#check(await settled(this.#core, request, limits));
        return new RwGrant(this, mode, request.record);
    }

    /** @param {RwMode} mode */
    #unlock(mode) {
        this.#core.assertOpen();
        const record = this.#held[mode].pop();
        if (record === undefined) throw this._notOwner();
        this._release(record);
    }

    /** Throws unless the lock is acquired. @param {number} result an Acquired */
    #check(result) {
        if (holds(result)) return result;
        if (result === acquired.notRecoverable) {
            throw new TabacusError(
                'not-recoverable',
                `an owner of ${show(this.name)} died, and the next one unlocked it without markConsistent()`,
            );
        }
        throw new DOMException(`${show(this.name)} was not free in time`, 'TimeoutError');
    }
}

/** The result of rw_request for a caller that would block, and that holds the lock already. */
const wouldDeadlock = 1;

/** The parameter of settle() of a caller that gives up, but waits for a thread that grants just now. */
const giveUpSoon = 2;

const names = Object.freeze({ shared: 'Shared', exclusive: 'Exclusive' });

/** @type {typeof Symbol.dispose} */
const dispose = /** @type {any} */ (Symbol.dispose ?? Symbol.for('Symbol.dispose'));

/**
 * One asynchronous acquisition of a reader-writer lock. It is released by `unlock()`, or at the end of the block
 * of a `using`.
 */
export class RwGrant {
    #lock;
    #record;
    #held = true;

    /**
     * @param {SharedRwLock} lock
     * @param {RwMode} mode
     * @param {number} record
     */
    constructor(lock, mode, record) {
        this.#lock = lock;
        this.#record = record;
        /** How the lock is held. @type {RwMode} @readonly */
        this.mode = mode;
    }

    /** Whether this grant holds the lock. */
    get held() {
        return this.#held;
    }

    /**
     * Whether this grant holds the lock, a writer has died before, and `markConsistent()` has not been called.
     * Then what the lock guards is in the state in which that writer left it.
     */
    get ownerDied() {
        return this.#held && this.#lock._ownerDied(this.#record);
    }

    /**
     * Declares that what the lock guards is consistent again. Does nothing if `ownerDied` is false.
     *
     * @throws {TabacusError} `not-owner` if this grant is released, or not exclusive; `closed`
     */
    markConsistent() {
        if (!this.#held || this.mode !== 'exclusive') throw this.#lock._notOwner();
        this.#lock._markConsistent();
    }

    /**
     * Releases the lock. If the grant is exclusive and `ownerDied` is true, the lock becomes `not-recoverable`.
     *
     * @throws {TabacusError} `not-owner` if this grant is already released; `closed`
     */
    unlock() {
        if (!this.#held) throw this.#lock._notOwner();
        this.#lock._release(this.#record);
        this.#held = false;
    }

    [dispose]() {
        if (this.#held) this.unlock();
    }
}
