import { invalid, show, TabacusError } from '../common/errors.js';
import { checkName, checkOptions } from '../common/check-arguments.js';
import { imported } from '../common/import-failure.js';
import { SharedCounter } from './shared-counter.js';
import { kindNumbers } from './arena-layout.js';
import { SharedLocks } from './locks/shared-locks.js';
import { SharedMutex } from './shared-mutex.js';
import { slotFields, segmentSlots, mirrorStates, segmentFields } from './segment/segment-layout.js';

/** @typedef {import('./arena-layout.js').CounterKind} CounterKind */

/** @typedef {import('./tab-lock/shared-tab-lock.js').SharedTabLock} SharedTabLock */

/** @type {readonly string[]} */
const counterKinds = Object.keys(kindNumbers).filter((kind) => kind !== 'mutex');

/**
 * @typedef {object} StorageChanges of what `storage()` gives
 * @property {string | null} key null: all of it was cleared
 * @property {string | null} oldValue
 * @property {string | null} newValue
 * @property {string} url
 * @property {import('../host/storage-like.js').StorageLike | null} storageArea
 */

/** @typedef {Event & Readonly<StorageChanges>} SharedStorageEvent another thread, or another tab, has changed it */

/** @typedef {{ addEventListener(type: 'storage', listener: ((event: SharedStorageEvent) => void) | null, options?: boolean | AddEventListenerOptions): void }} StorageEventTarget */

/**
 * Read from the memory itself: only the page has localStorage, and any thread may have asked for the storage.
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
 * One thread's view of the shared memory: counters, mutexes and locks over tabs by their names, a storage.
 * Once the thread has called `storage()`, this is the target of its `storage` events.
 */
export class SharedMemory extends /** @type {new () => StorageEventTarget & EventTarget} */ (EventTarget) {
    #core;
    #handle;
    #TabLock;

    /** @type {Map<string, SharedCounter | SharedMutex>} */
    #objects = new Map();

    /** @type {Map<string, SharedTabLock>} */
    #tabLocks = new Map();

    /**
     * `storage`: how localStorage relates to the shared storage, once any thread has called `storage()`: `mirrored`;
     * `behind`, if one of the two has no space for what is in the other; `memory`, if there is no localStorage.
     *
     * @type {{ readonly storage?: typeof mirrorStates[number] }}
     * @readonly
     */
    capabilities;

    /**
     * Locks for the threads of this memory, by the rules of `navigator.locks`: exclusive or shared, in one queue
     * for each name. What a thread holds or waits for is gone with its attachment. It is gone, too, when
     * the thread exits, where there are Web Locks, and in Node for Workers that the page started after it has
     * called `threads()`.
     *
     * @readonly
     */
    locks = new SharedLocks(async () => (await this.#load()).locks());

    /**
     * @param {import('./thread-core.js').ThreadCore} core
     * @param {import('./handle.js').SharedHandle} handle
     * @param {typeof import('./tab-lock/shared-tab-lock.js').SharedTabLock} [TabLock] of a memory that was made with a tab:
     *   loaded for these only
     */
    constructor(core, handle, TabLock) {
        super();
        this.#core = core;
        this.capabilities = capabilitiesOf(core);
        this.#TabLock = TabLock;
        this.#handle = Object.freeze(handle);
    }

    /** Post it to a Worker, which calls `attach(handle)` of `tabacus/worker`. */
    get handle() {
        return this.#handle;
    }

    /**
     * The counter of that name, made if there is none. Without `kind` an existing one is taken as it
     * is, and a new one is `atomic`; an existing object of another kind is a `kind-mismatch` error.
     *
     * @param {string} name 1 to 128 UTF-16 units, well-formed
     * @param {{ kind?: CounterKind }} [options]
     * @returns {SharedCounter}
     */
    counter(name, options = {}) {
        const { kind } = checkOptions(options, ['kind']);
        if (kind !== undefined && !counterKinds.includes(/** @type {string} */ (kind))) {
            throw invalid('kind', kind, `one of ${counterKinds.join(', ')}`);
        }
        const found = this.#open(name, /** @type {CounterKind} */ (kind ?? 'atomic'));
        if (!(found instanceof SharedCounter)) throw mismatch(name, 'mutex', 'counter');
        if (kind !== undefined && kind !== found.kind) throw mismatch(name, found.kind, String(kind));
        return found;
    }

    /**
     * The mutex of that name, made if there is none.
     *
     * @param {string} name 1 to 128 UTF-16 units, well-formed
     * @returns {SharedMutex}
     */
    mutex(name) {
        const found = this.#open(name, 'mutex');
        if (!(found instanceof SharedMutex)) throw mismatch(name, found.kind, 'mutex');
        return found;
    }

    /**
     * The lock of that name over all tabs of the origin: the same as `tab.lock(name)` of the tab that the
     * memory was made with. A Worker takes it blocking.
     *
     * @param {string} name 1 to 128 UTF-16 units, well-formed; counters and mutexes have names of their own
     * @returns {SharedTabLock}
     * @throws {TabacusError} `unavailable` of a memory that was made without a tab
     */
    tabLock(name) {
        checkName(name);
        this.#core.assertOpen();
        if (!this.#TabLock) {
            throw new TabacusError(
                'unavailable',
                'locks over tabs need a tab that asks for them: make the memory by threads({ tab: await open() })',
            );
        }
        const lock = this.#tabLocks.get(name) ?? new this.#TabLock(this.#core, name);
        this.#tabLocks.set(name, lock);
        return lock;
    }

    /**
     * The Storage of the memory: the same items in every thread, to be used synchronously, as localStorage is.
     * The page writes what is set to its localStorage, and reads from there what it holds at first and what
     * other tabs write; a page that has none, and Node, keeps it in memory: `capabilities.storage`. Every
     * change notifies all other threads that have called this, by a `storage` event of their memory object
     * and, in a Worker, of its global object.
     *
     * @param {{ quota_bytes?: number }} [options] of keys and values together, two bytes a unit, 0 to 2^24: 10 MiB
     *   unless the first call of all threads has another; a different one is a `kind-mismatch` error then
     * @returns {Promise<import('../host/storage-like.js').StorageLike>} one object for each thread
     * @throws {TabacusError} `unavailable` where store.wasm is not beside the modules, or the page has closed the memory
     *   before it was asked; `out-of-memory`; `closed`
     */
    async storage(options) {
        return (await this.#load()).storage(options);
    }

    /**
     * This thread leaves: what it has opened answers with `closed` errors. The objects themselves live
     * as long as the memory. Unlock first what you hold; locks over tabs are released.
     */
    close() {
        for (const lock of this.#tabLocks.values()) lock._close();
        this.#core.mirror?.push();
        this.#core.close();
    }

    /** Loaded only by threads that share more than counters and mutexes. */
    async #load() {
        return (await imported(import('./segment/thread-segments.js'))).segmentsOf(this.#core, this);
    }

    /**
     * @param {string} name
     * @param {CounterKind | 'mutex'} kindIfNew
     */
    #open(name, kindIfNew) {
        checkName(name);
        this.#core.assertOpen();
        const known = this.#objects.get(name);
        if (known) return known;
        const { kind, at } = this.#core.open(name, kindIfNew);
        const object =
            kind === 'mutex'
                ? new SharedMutex(this.#core, name, at)
                : new SharedCounter(this.#core, name, kind, at);
        this.#objects.set(name, object);
        return object;
    }
}

/**
 * @param {string} name
 * @param {string} is
 * @param {string} asked
 */
const mismatch = (name, is, asked) =>
    new TabacusError('kind-mismatch', `${show(name)} is of kind ${is} already, not ${asked}`, {
        argument: 'kind',
        value: asked,
        allowed: is,
    });
