import { invalid, show, TabacusError, TabacusRangeError } from '../common/errors.js';
import { kindNumbers, outcomes } from './arena-layout.js';

/** @typedef {import('./arena-layout.js').CounterKind} CounterKind */

/**
 * What a kind of counter promises, as data.
 *
 * @typedef {object} SharedGuarantee
 * @property {CounterKind} strategy
 * @property {'never' | 'concurrent updates'} lost which updates may be lost
 * @property {boolean} readsWait whether a read may wait for another thread
 * @property {boolean} addsWait whether an add may wait for another thread
 * @property {string} accuracy what a read may see
 * @property {readonly string[]} needs what the platform must have
 * @property {'memory'} durability the value exists as long as the page
 */

/**
 * Makes a guarantee.
 *
 * @param {CounterKind} strategy
 * @param {Omit<SharedGuarantee, 'strategy' | 'needs' | 'durability'>} promise
 * @returns {Readonly<SharedGuarantee>}
 */
const promised = (strategy, promise) =>
    Object.freeze({
        strategy,
        ...promise,
        needs: Object.freeze(['shared memory']),
        durability: /** @type {const} */ ('memory'),
    });

/** @type {Readonly<Record<CounterKind, Readonly<SharedGuarantee>>>} */
const guarantees = Object.freeze({
    atomic: promised('atomic', {
        lost: 'never',
        readsWait: false,
        addsWait: false,
        accuracy: 'exact: a value that the counter had during the read',
    }),
    mutexed: promised('mutexed', {
        lost: 'never',
        readsWait: false,
        addsWait: true,
        accuracy: 'exact: a value that the counter had during the read',
    }),
    striped: promised('striped', {
        lost: 'never',
        readsWait: false,
        addsWait: false,
        accuracy:
            'exact when no add is in flight; else every add that ended before the read and none that began after it',
    }),
    unsynchronised: promised('unsynchronised', {
        lost: 'concurrent updates',
        readsWait: false,
        addsWait: false,
        accuracy: 'wrong as soon as two threads add at once',
    }),
});

const int64Least = -(2n ** 63n);
const int64Most = 2n ** 63n - 1n;

/**
 * A 64-bit counter in shared memory. All threads that open the same name get the same counter.
 * `shared.counter(name)` returns it.
 *
 * Numbers are exact within ±(2^53−1): an add that would leave this range throws a `TabacusRangeError` and
 * changes nothing. The methods named `…BigInt` use all 64 bits.
 *
 * @example
 * const clicks = shared.counter('clicks');
 * clicks.add();    // 1
 * clicks.add(41);  // 42
 */
export class SharedCounter {
    #core;
    #number;
    #at;

    /**
     * @param {import('./thread-core.js').ThreadCore} core
     * @param {string} name
     * @param {CounterKind} kind
     * @param {number} at
     */
    constructor(core, name, kind, at) {
        this.#core = core;
        this.#number = kindNumbers[kind];
        this.#at = at;
        /** The name that was passed to shared.counter(). */
        this.name = name;
        /** How it adds. */
        this.kind = kind;
        /** What its kind promises, as frozen data. */
        this.guarantee = guarantees[kind];
        Object.freeze(this);
    }

    /**
     * Adds `n`, and returns the value after it. (For an `unsynchronised` counter this is the value that the
     * thread stored, which may lack the updates of other threads.)
     *
     * @param {number} [n] an integer within ±(2^53−1); 1 by default
     * @returns {number} an integer within ±(2^53−1)
     * @throws {TabacusRangeError} if the value would leave ±(2^53−1); nothing is added then
     * @throws {TabacusError} `invalid-argument`; `would-block` for a `mutexed` counter on a main thread,
     *   while another thread adds; `closed`
     */
    add(n = 1) {
        if (typeof n === 'number') {
            const core = this.#core;
            const value = core.ops.counter_add(this.#number, this.#at, core.agent, n);
            if (!Number.isNaN(value)) return value;
        }
        return this.#explain(n);
    }

    /**
     * Adds `n` without reading the value. A `striped` counter is faster at this than at `add`, because its
     * value is a sum over the cells of other threads. For the other kinds it does what `add` does.
     *
     * @param {number} [n] an integer within ±(2^53−1); 1 by default
     * @returns {void}
     * @throws as `add` does
     */
    bump(n = 1) {
        if (typeof n === 'number') {
            const core = this.#core;
            if (core.ops.counter_bump(this.#number, this.#at, core.agent, n) === 0) return;
        }
        this.#explain(n);
    }

    /**
     * The value.
     *
     * @returns {number} an integer within ±(2^53−1)
     * @throws {TabacusRangeError} if addBigInt() has brought the value beyond ±(2^53−1)
     * @throws {TabacusError} `closed`
     */
    get value() {
        const value = this.#core.ops.counter_value(this.#number, this.#at);
        if (!Number.isNaN(value)) return value;
        this.#core.assertOpen();
        throw new TabacusRangeError(
            `${show(this.name)} is beyond ±(2^53−1), where numbers are not exact: read valueBigInt`,
        );
    }

    /**
     * Adds `n`, with all 64 bits, and returns the value after it.
     *
     * @param {bigint} [n] from −2^63 to 2^63−1; 1n by default
     * @returns {bigint} from −2^63 to 2^63−1
     * @throws {TabacusRangeError} if the value would leave this range; nothing is added then
     * @throws {TabacusError} as `add` does
     */
    addBigInt(n = 1n) {
        const core = this.#core;
        core.assertOpen();
        if (typeof n !== 'bigint' || n < int64Least || n > int64Most) {
            throw invalid('n', n, 'a bigint from −2^63 to 2^63−1');
        }
        const value = core.ops.counter_add_exact(this.#number, this.#at, core.agent, n);
        if (core.outcome !== outcomes.added) throw this.#refusal(n, '64 bits');
        return value;
    }

    /** The value, with all 64 bits. @throws {TabacusError} `closed` */
    get valueBigInt() {
        this.#core.assertOpen();
        return this.#core.ops.counter_value_exact(this.#number, this.#at);
    }

    /**
     * Returns the kind and the address of a counter, for C++ threads of the same memory.
     *
     * @param {unknown} candidate
     * @param {import('./thread-core.js').ThreadCore} core
     */
    static locate(candidate, core) {
        const ours = typeof candidate === 'object' && candidate !== null && #core in candidate;
        if (!ours || candidate.#core !== core) {
            throw invalid('counter', candidate, 'a counter of the same shared memory');
        }
        return { kind: candidate.#number, at: candidate.#at };
    }

    /**
     * Throws the error of an add that was not done.
     *
     * @param {unknown} n
     * @returns {never}
     */
    #explain(n) {
        this.#core.assertOpen();
        if (!Number.isSafeInteger(n)) throw invalid('n', n, 'a safe integer');
        throw this.#refusal(n, '±(2^53−1)');
    }

    /**
     * Makes the error of an add that the memory refused.
     *
     * @param {unknown} n
     * @param {string} limit the range of the value, for the message
     */
    #refusal(n, limit) {
        if (this.#core.outcome === outcomes.wouldBlock) {
            return new TabacusError(
                'would-block',
                `another thread holds the lock of ${show(this.name)}, and this one may not wait: try again`,
            );
        }
        const message = `adding ${show(n)} would bring ${show(this.name)} beyond ${limit}; nothing was added`;
        return new TabacusRangeError(message, { argument: 'n', value: n, allowed: `a sum within ${limit}` });
    }
}
