import { invalid, show, TabacusError } from '../common/errors.js';
import { checkFunction, checkName, checkOptions } from '../common/check-arguments.js';
import { imported } from '../common/import-failure.js';
import { SharedCounter } from './shared-counter.js';
import { kindNumbers, partiesMax, permitsMax } from './arena-layout.js';
import { SharedLocks } from './locks/shared-locks.js';
import { SharedBarrier } from './shared-barrier.js';
import { SharedCondition } from './shared-condition.js';
import { SharedMutex } from './shared-mutex.js';
import { SharedOnce } from './shared-once.js';
import { SharedRwLock } from './shared-rw-lock.js';
import { SharedSemaphore } from './shared-semaphore.js';
import { slotFields, segmentSlots, mirrorStates, segmentFields } from './segment/segment-layout.js';

/** @typedef {import('./arena-layout.js').CounterKind} CounterKind */

/** @typedef {import('./tab-counter/shared-tab-counter.js').SharedTabCounter} SharedTabCounter */
/** @typedef {import('./tab-lock/shared-tab-lock.js').SharedTabLock} SharedTabLock */

/** @typedef {import('./arena-layout.js').ObjectKind} ObjectKind */

/** The classes of all kinds but counters. */
const classes = {
    mutex: SharedMutex,
    rwLock: SharedRwLock,
    semaphore: SharedSemaphore,
    barrier: SharedBarrier,
    condition: SharedCondition,
    once: SharedOnce,
};

/**
 * The classes of locks and counters over tabs, which are only loaded if the memory was made with a tab.
 *
 * @typedef {Pick<typeof import('./tab-lock/tab-locks.js'), 'SharedTabLock' | 'SharedTabCounter'>} TabClasses
 */

/** @type {readonly string[]} */
const counterKinds = Object.keys(kindNumbers).filter((kind) => !(kind in classes));

/**
 * A change of the shared storage.
 *
 * @typedef {object} StorageChanges
 * @property {string | null} key null if the whole storage was cleared, or if changes were missed
 * @property {string | null} oldValue
 * @property {string | null} newValue
 * @property {string} url
 * @property {import('../host/storage-like.js').StorageLike | null} storageArea the object that `storage()`
 *   returns
 */

/** The event of a change that another thread or another tab has made. @typedef {Event & Readonly<StorageChanges>} SharedStorageEvent */

/** @typedef {{ addEventListener(type: 'storage', listener: ((event: SharedStorageEvent) => void) | null, options?: boolean | AddEventListenerOptions): void }} StorageEventTarget */

/**
 * Returns the capabilities of a memory. They are read from the memory itself, because only the page has
 * localStorage, and any thread may be the first to use the storage.
 *
 * @param {import('./thread-core.js').ThreadCore} core
 */
const capabilitiesOf = ({ words, root }) => ({
    get storage() {
        const segment = Atomics.load(words, (root + segmentSlots.storage + slotFields.segment) >> 2);
        return segment > 0
            ? mirrorStates[Atomics.load(words, (root + segment + segmentFields.mirror) >> 2)]
            : undefined;
    },
});

/**
 * One thread's view of the shared memory: counters, mutexes and locks over tabs by their names, and a
 * storage. After the thread has called `storage()`, this object is a target of `storage` events.
 */
export class SharedMemory extends /** @type {new () => StorageEventTarget & EventTarget} */ (EventTarget) {
    #core;
    #handle;
    #tabClasses;

    /** @type {Map<string, { kind: CounterKind | ObjectKind, object: SharedCounter | InstanceType<typeof classes[ObjectKind]> }>} */
    #objects = new Map();

    /** @type {Map<string, SharedTabLock>} */
    #tabLocks = new Map();

    /** @type {Map<string, SharedTabCounter>} */
    #tabCounters = new Map();

    /**
     * `storage`: how localStorage relates to the shared storage, once any thread has called `storage()`.
     * `mirrored`: both have the same items. `behind`: one of the two has no space for an item of the other.
     * `memory`: there is no localStorage.
     *
     * @type {{ readonly storage?: typeof mirrorStates[number] }}
     * @readonly
     */
    capabilities;

    /**
     * Locks for the threads of this memory, by the rules of `navigator.locks`: exclusive or shared, in one
     * queue for each name. When a thread closes its attachment, its locks are released and its requests are
     * withdrawn. In a browser with Web Locks the same happens when a thread exits. In Node it happens when a
     * Worker exits that was started after the call of `threads()`.
     *
     * @readonly
     */
    locks = new SharedLocks(async () => (await this.#load()).locks());

    /**
     * @param {import('./thread-core.js').ThreadCore} core
     * @param {import('./handle.js').SharedHandle} handle
     * @param {TabClasses} [tabClasses] if the memory was made with a tab
     */
    constructor(core, handle, tabClasses) {
        super();
        this.#core = core;
        this.capabilities = capabilitiesOf(core);
        this.#tabClasses = tabClasses;
        this.#handle = Object.freeze(handle);
    }

    /** The handle of the memory. Post it to a Worker, which calls `attach(handle)` of `tabacus/worker`. */
    get handle() {
        return this.#handle;
    }

    /**
     * Returns the counter of that name, and makes it if there is none.
     *
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @param {{ kind?: CounterKind }} [options] `kind`: how the counter adds. Without it, an existing counter
     *   of any kind is returned, and a new one is `atomic`
     * @returns {SharedCounter} the same object for the same name
     * @throws {TabacusError} `invalid-argument`; `kind-mismatch` if the name belongs to a counter of another
     *   kind or to another object; `out-of-memory`; `would-block` on a main thread while another thread makes an
     *   object; `closed`
     */
    counter(name, options = {}) {
        const { kind } = checkOptions(options, ['kind']);
        if (kind !== undefined && !counterKinds.includes(/** @type {string} */ (kind))) {
            throw invalid('kind', kind, `one of ${counterKinds.join(', ')}`);
        }
        const found = this.#open(name, /** @type {CounterKind} */ (kind ?? 'atomic'));
        const { object } = found;
        if (!(object instanceof SharedCounter)) throw mismatch(name, found.kind, 'counter');
        if (kind !== undefined && kind !== found.kind) throw mismatch(name, found.kind, String(kind));
        return object;
    }

    /**
     * Returns the mutex of that name, and makes it if there is none.
     *
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @returns {SharedMutex} the same object for the same name
     * @throws {TabacusError} as counter() does; `kind-mismatch` if the name belongs to an object of another
     *   kind
     */
    mutex(name) {
        return /** @type {SharedMutex} */ (this.#openAs(name, 'mutex'));
    }

    /**
     * Returns the reader-writer lock of that name, and makes it if there is none.
     *
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @returns {SharedRwLock} the same object for the same name
     * @throws {TabacusError} as counter() does; `kind-mismatch` if the name belongs to another object
     */
    rwLock(name) {
        return /** @type {SharedRwLock} */ (this.#openAs(name, 'rwLock'));
    }

    /**
     * Returns the semaphore of that name, and makes it if there is none.
     *
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @param {number} permits its permits at the beginning, an integer from 0 to 2^23 − 1, the same in all threads
     * @returns {SharedSemaphore} the same object for the same name
     * @throws {TabacusError} as counter() does; `kind-mismatch` if the name belongs to another object, or to a
     *   semaphore that has begun with another number of permits
     */
    semaphore(name, permits) {
        checkInteger('permits', permits, 0, permitsMax);
        const semaphore = this.#openAs(name, 'semaphore');
        const begun = /** @type {SharedSemaphore} */ (semaphore)._begin(permits);
        if (begun !== permits) throw mismatch(name, `semaphore(${begun})`, `semaphore(${permits})`);
        return /** @type {SharedSemaphore} */ (semaphore);
    }

    /**
     * Returns the barrier of that name, and makes it if there is none.
     *
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @param {number} parties its parties, an integer from 1 to 512, the same in all threads
     * @returns {SharedBarrier} the same object for the same name
     * @throws {TabacusError} as counter() does; `kind-mismatch` if the name belongs to another object, or to a
     *   barrier that has another number of parties
     */
    barrier(name, parties) {
        checkInteger('parties', parties, 1, partiesMax);
        const barrier = this.#openAs(name, 'barrier');
        const begun = /** @type {SharedBarrier} */ (barrier)._begin(parties);
        if (begun !== parties) throw mismatch(name, `barrier(${begun})`, `barrier(${parties})`);
        return /** @type {SharedBarrier} */ (barrier);
    }

    /**
     * Returns the condition variable of that name, and makes it if there is none.
     *
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @returns {SharedCondition} the same object for the same name
     * @throws {TabacusError} as counter() does; `kind-mismatch` if the name belongs to an object of another
     *   kind
     */
    condition(name) {
        return /** @type {SharedCondition} */ (this.#openAs(name, 'condition'));
    }

    /**
     * Runs a function once over all threads, as std::call_once does: when a call returns, the function has
     * run, in this thread or in another one. If it throws, the call throws the same, and the next caller runs
     * it. If the thread that runs it dies, the next caller runs it as well; it may then have done a part of
     * its work. Blocks while another thread runs it.
     *
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units. No counter, mutex or condition may
     *   have the same name
     * @param {() => void} run a function that does not call callOnce() for the same name. It is not awaited
     * @param {{ timeout?: number }} [options] `timeout`: the longest wait for another thread that runs the
     *   function, in milliseconds, from 0 (which never waits) to 2^31 − 1
     * @returns {boolean} whether this call has run the function
     * @throws {TabacusError} `would-block` on a page's main thread, unless the function has run;
     *   `would-deadlock` if the function calls itself; as counter() does
     * @throws {DOMException} `TimeoutError`
     */
    callOnce(name, run, options) {
        checkFunction('run', run);
        return /** @type {SharedOnce} */ (this.#openAs(name, 'once')).call(run, options);
    }

    /**
     * Does what callOnce() does for the same names, without blocking the thread. It awaits what the function
     * returns.
     *
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units
     * @param {() => unknown} run a function that does not call callOnceAsync() for the same name
     * @param {{ signal?: AbortSignal, timeout?: number }} [options] end the wait for another thread that runs
     *   the function; `timeout` is in milliseconds, from 0 to 2^31 − 1
     * @returns {Promise<boolean>} whether this call has run the function. Rejects with what the function
     *   throws, with the signal's reason, with a `TimeoutError`, or as counter() throws
     */
    async callOnceAsync(name, run, options) {
        checkFunction('run', run);
        return /** @type {SharedOnce} */ (this.#openAs(name, 'once')).callAsync(run, options);
    }

    /**
     * Returns the lock of that name over all tabs of the origin. It is the same lock as `tab.lock(name)` of
     * the tab with which the memory was made. A Worker can block until it holds the lock.
     *
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units. A counter or a mutex may have the
     *   same name
     * @returns {SharedTabLock} the same object for the same name
     * @throws {TabacusError} `invalid-argument`; `unavailable` if the memory was made without a tab; `closed`
     */
    tabLock(name) {
        checkName(name);
        this.#core.assertOpen();
        const lock = this.#tabLocks.get(name) ?? new (this.#needTab().SharedTabLock)(this.#core, name);
        this.#tabLocks.set(name, lock);
        return lock;
    }

    /**
     * Returns the counter of that name over all threads and all tabs of the origin. It is the same counter as
     * `tab.counter(name)` of the tab with which the memory was made.
     *
     * @param {string} name a well-formed string of 1 to 128 UTF-16 units. A counter, a mutex or a lock of this
     *   memory may have the same name
     * @returns {SharedTabCounter} the same object for the same name
     * @throws {TabacusError} `invalid-argument`; `unavailable` if the memory was made without a tab;
     *   `out-of-memory`; `would-block` on a main thread while another thread makes an object; `closed`
     */
    tabCounter(name) {
        checkName(name);
        this.#core.assertOpen();
        const counter =
            this.#tabCounters.get(name) ?? new (this.#needTab().SharedTabCounter)(this.#core, name);
        this.#tabCounters.set(name, counter);
        return counter;
    }

    /** Returns the classes of locks and counters over tabs. @throws {TabacusError} `unavailable` */
    #needTab() {
        if (this.#tabClasses) return this.#tabClasses;
        throw new TabacusError(
            'unavailable',
            'locks and counters over tabs need a tab: make the memory by threads({ tab: await open() })',
        );
    }

    /**
     * Returns the Storage of the memory. It has the same items in every thread, and its methods are
     * synchronous, as those of localStorage.
     *
     * The page copies every change to its localStorage. From there it reads the first items and the changes
     * of other tabs. A page without localStorage, and Node, keep the items in memory only; see
     * `capabilities.storage`.
     *
     * Every change notifies all other threads that have called storage(): by a `storage` event of their
     * memory object and, in a Worker, of its global object.
     *
     * @param {{ quota_bytes?: number }} [options] `quota_bytes`: the most bytes of all keys and values
     *   together, with two bytes for each UTF-16 unit. An integer from 0 to 2^24; 10 MiB by default. The
     *   first call of all threads decides it
     * @returns {Promise<import('../host/storage-like.js').StorageLike>} the same object for each call of a
     *   thread. Rejects with `invalid-argument`; with `kind-mismatch` if an earlier call chose another quota;
     *   with `unavailable` if store.wasm is not beside the modules, or if the page has closed the memory;
     *   with `out-of-memory` or `closed`
     */
    async storage(options) {
        return (await this.#load()).storage(options);
    }

    /**
     * Closes this thread's attachment: the objects that this thread has opened throw `closed` from here on.
     * The counters and mutexes themselves live as long as the memory. Locks over tabs are released. A mutex
     * that the thread holds goes to the next thread as if this one had died: with `ownerDied`.
     */
    close() {
        for (const one of [...this.#tabLocks.values(), ...this.#tabCounters.values()]) one._close();
        this.#core.mirror?.push();
        this.#core.close();
    }

    /**
     * Loads the code for the storage and the locks, which threads that only share counters and mutexes do not
     * need.
     */
    async #load() {
        return (await imported(import('./segment/thread-segments.js'))).segmentsOf(this.#core, this);
    }

    /**
     * Returns the object of that name and kind, and makes it if there is none.
     *
     * @param {string} name
     * @param {ObjectKind} kind
     * @throws {TabacusError} `kind-mismatch`
     */
    #openAs(name, kind) {
        const found = this.#open(name, kind);
        if (found.kind !== kind) throw mismatch(name, found.kind, kind);
        return found.object;
    }

    /**
     * Returns the object of that name, whatever its kind.
     *
     * @param {string} name
     * @param {CounterKind | ObjectKind} kindIfNew the kind if it has to be made
     */
    #open(name, kindIfNew) {
        checkName(name);
        this.#core.assertOpen();
        const known = this.#objects.get(name);
        if (known) return known;
        const { kind, at } = this.#core.open(name, kindIfNew);
        const object =
            kind in classes
                ? new classes[/** @type {ObjectKind} */ (kind)](this.#core, name, at)
                : new SharedCounter(this.#core, name, /** @type {CounterKind} */ (kind), at);
        const opened = { kind, object };
        this.#objects.set(name, opened);
        return opened;
    }
}

/**
 * Checks a number of permits or parties.
 *
 * @param {string} argument
 * @param {unknown} n
 * @param {number} least
 * @param {number} most
 */
function checkInteger(argument, n, least, most) {
    if (!Number.isInteger(n) || Number(n) < least || Number(n) > most)
        throw invalid(argument, n, `an integer from ${least} to ${most}`);
}

/**
 * Makes the error of an object that has another kind.
 *
 * @param {string} name
 * @param {string} is its kind
 * @param {string} asked the kind that was asked for
 */
const mismatch = (name, is, asked) =>
    new TabacusError('kind-mismatch', `${show(name)} is of kind ${is} already, not ${asked}`, {
        argument: 'kind',
        value: asked,
        allowed: is,
    });
