/**
 * The page's part in the storage that threads share. It writes the changes of threads to localStorage, in
 * their order (push), and reads the changes of other tabs from there (pull).
 *
 * The two have the same items whenever no change is pending. If a thread and another tab write one key at the
 * same time, localStorage decides: the threads' changes are written there first, and then its value is read.
 */

import { mirrorStates, otherTabs, segmentFields } from '../segment/segment-layout.js';
import { nextMacrotask } from '../../common/macrotask.js';
import { sleepAsync } from '../waiting.js';

/**
 * Returns the page's localStorage; undefined if there is none or the page may not use it.
 *
 * @returns {Storage | undefined}
 */
function localStorageOf() {
    try {
        return globalThis.window?.localStorage ?? undefined;
    } catch {
        return undefined; // a SecurityError: the page may not use it
    }
}

/**
 * Returns all keys. Object.keys() would leave out keys with the names of properties of the prototype.
 *
 * @param {Storage} storage
 */
const keysOf = (storage) => Array.from({ length: storage.length }, (_, index) => String(storage.key(index)));

/** Whether a change makes the storage smaller. @param {import('./storage-area.js').Change} change */
const isLess = ({ oldValue, newValue }) => newValue === null || newValue.length < (oldValue?.length ?? 0);

/** Keeps localStorage and the shared storage equal. */
class LocalStorageMirror {
    #core;
    #segment;
    #area;
    #local;

    /** The number of the last change that was written to localStorage. */
    #pushed = 0;

    /**
     * The value of each key when both storages last had the same value. If one of them has another value now, it has
     * changed the key since.
     * @type {Map<string, string>}
     */
    #common = new Map();

    /** The changes that #replay() has still to write. @type {import('./storage-area.js').Change[]} */
    #writing = [];

    /** The number of calls of #write(). */
    #turn = 0;

    /** The keys for which localStorage had no space. @type {Set<string>} */
    #unwritten = new Set();

    /** The keys of localStorage for which the shared storage had no space. @type {Set<string>} */
    #unfit = new Set();

    /** Whether the shared storage has become smaller since then, so that these keys may fit. */
    #shrunk = false;

    /**
     * @param {import('../thread-core.js').ThreadCore} core
     * @param {number} segment
     * @param {import('./storage-area.js').StorageArea} area
     * @param {Storage} local
     */
    constructor(core, segment, area, local) {
        this.#core = core;
        this.#segment = segment;
        this.#area = area;
        this.#local = local;
    }

    /** Reads all items of localStorage, and begins to watch for changes of both. */
    begin() {
        this.#pullAll();
        this.#pushed = this.#area.listen();
        this.#updateState();
        const ending = { signal: this.#core.ending };
        window.addEventListener('storage', (event) => this.#onStorage(event), ending);
        window.addEventListener('pagehide', () => this.push(), ending);
        // The page received no events while it was in the back/forward cache.
        window.addEventListener('pageshow', ({ persisted }) => persisted && this.#catchUp(), ending);
        void this.#listen();
    }

    /** Writes the changes of threads to localStorage until the attachment is closed. */
    async #listen() {
        while (!this.#core.closed) {
            await this.#area.unoccupied();
            if (this.#core.closed) return;
            if (this.#pushed !== this.#area.latest) {
                this.#pushSome();
                await nextMacrotask();
                continue;
            }
            this.push();
            await sleepAsync(
                this.#core.words,
                this.#area.latestWord,
                this.#pushed,
                Infinity,
                this.#core.ending,
            );
        }
    }

    /** Writes the pending changes of threads to localStorage. */
    push() {
        if (this.#core.closed) return;
        // Later changes are left for the next call: otherwise threads that write without a pause would keep
        // the page here.
        const { latest } = this.#area;
        while (((latest - this.#pushed) | 0) > 0) this.#pushSome();
        for (const key of [...this.#unwritten]) this.#write(key, this.#area.get(key));
        this.#retry();
        this.#updateState();
    }

    /** Reads the keys again for which the shared storage had no space, if it has become smaller. */
    #retry() {
        if (!this.#shrunk) return;
        this.#shrunk = false;
        for (const key of [...this.#unfit]) this.#pull(key);
    }

    /** Writes the next batch of changes to localStorage. */
    #pushSome() {
        const { changes, last } = this.#area.changes(this.#pushed, otherTabs);
        this.#pushed = last;
        this.#replay(changes);
    }

    /**
     * Writes changes to localStorage.
     *
     * @param {import('./storage-area.js').Change[] | undefined} changes undefined if they are not recorded
     *   any more: then all items are compared
     */
    #replay(changes) {
        this.#shrunk ||= !changes || changes.some(isLess);
        if (!changes) {
            this.#writing = [];
            this.#pushAll();
            return;
        }
        this.#writing.push(...changes);
        // Firefox may dispatch `pagehide` within setItem(), whose listener calls this method again with newer
        // changes.
        for (let change; (change = this.#writing.shift());) this.#write(change.key, change.newValue);
    }

    /**
     * Writes one item to localStorage, or clears it if `key` is null.
     *
     * @param {string | null} key
     * @param {string | null} value
     */
    #write(key, value) {
        const turn = ++this.#turn;
        this.#put(key, value);
        if (turn === this.#turn) return;
        // Newer changes were written within #put() (see #replay), and #put() may have overwritten them: write
        // them again.
        if (key === null) this.#pushAll();
        else this.#write(key, this.#area.get(key));
    }

    /**
     * Writes one item, and records whether it fits.
     *
     * @param {string | null} key
     * @param {string | null} value
     */
    #put(key, value) {
        if (key === null) {
            this.#local.clear();
            this.#common.clear();
            this.#unwritten.clear();
            this.#unfit.clear();
            return;
        }
        this.#unwritten.delete(key);
        this.#unfit.delete(key);
        try {
            if (value === null) this.#local.removeItem(key);
            else this.#local.setItem(key, value);
            this.#agree(key, value);
        } catch {
            this.#unwritten.add(key); // a QuotaExceededError: the next push() tries again
        }
    }

    /** Records that both have the same value of a key. @param {string} key @param {string | null} value */
    #agree(key, value) {
        if (value === null) this.#common.delete(key);
        else this.#common.set(key, value);
    }

    /**
     * Writes every item that threads have changed to localStorage, and no other: a change by another tab must
     * stay, even if its event has not arrived yet.
     */
    #pushAll() {
        for (const key of new Set([...this.#common.keys(), ...this.#area.keys()])) {
            const value = this.#area.get(key);
            if (value === (this.#common.get(key) ?? null)) continue;
            if (this.#local.getItem(key) === value) this.#agree(key, value);
            else this.#write(key, value);
        }
    }

    /** Reads the change of another tab. @param {StorageEvent} event */
    #onStorage({ storageArea, key }) {
        if (storageArea !== this.#local) return;
        this.push();
        if (key === null) this.#pullAll();
        else this.#pull(key);
        this.#updateState();
    }

    /** Exchanges all changes that were made while the page was in the back/forward cache. */
    #catchUp() {
        this.push();
        this.#pullAll();
        this.#updateState();
    }

    /** Reads all items of localStorage. */
    #pullAll() {
        this.#unfit.clear();
        const keys = keysOf(this.#local);
        const known = new Set(keys);
        for (const key of this.#area.keys()) if (!known.has(key)) this.#pull(key);
        for (const key of keys) this.#pull(key);
    }

    /**
     * Reads the value of a key from localStorage. Changes that threads have made since the last push precede
     * it, here as in the shared storage: so they are written to localStorage, and then the value is written
     * there again.
     *
     * @param {string} key
     */
    #pull(key) {
        if (this.#unwritten.has(key)) return;
        const value = this.#local.getItem(key);
        const { changes, full, last } = this.#area.writeOther(this.#pushed, key, value);
        this.#pushed = last;
        if (full) {
            this.#unfit.add(key);
        } else {
            this.#unfit.delete(key);
            this.#agree(key, value);
        }
        if (changes?.length === 0) return;
        this.#replay(changes);
        if (!full && this.#local.getItem(key) !== value) this.#write(key, value);
    }

    /** Publishes, for all threads, whether both have the same items. */
    #updateState() {
        const state = this.#unwritten.size > 0 || this.#unfit.size > 0 ? 'behind' : 'mirrored';
        Atomics.store(
            this.#core.words,
            (this.#segment + segmentFields.mirror) >> 2,
            mirrorStates.indexOf(state),
        );
    }
}

/**
 * Copies the items of localStorage into the shared storage, and keeps both equal from then on.
 *
 * @param {import('../thread-core.js').ThreadCore} core
 * @param {number} segment
 * @param {import('./storage-area.js').StorageArea} area
 * @returns {LocalStorageMirror | undefined} undefined if there is no localStorage
 */
export function startMirror(core, segment, area) {
    const local = localStorageOf();
    if (!local) return undefined;
    const mirror = new LocalStorageMirror(core, segment, area, local);
    mirror.begin();
    return mirror;
}
