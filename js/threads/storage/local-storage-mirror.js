/**
 * The page's part in the storage that threads share: what they write goes to localStorage, in the one order
 * in which it was written; what other tabs write there comes back.
 *
 * The two are equal whenever nothing is on its way. Where a thread and another tab have written one key at
 * once, localStorage decides: what the threads wrote is written there first, and what is there then is read.
 */

import { mirrorStates, otherTabs, segmentFields } from '../segment/segment-layout.js';
import { nextMacrotask } from '../../common/macrotask.js';
import { sleepAsync } from '../waiting.js';

/** The page's localStorage; undefined where there is none, or it is forbidden. @returns {Storage | undefined} */
function localStorageOf() {
    try {
        return globalThis.window?.localStorage ?? undefined;
    } catch {
        return undefined; // SecurityError: no access
    }
}

/** Object.keys would leave out those that the prototype shadows. @param {Storage} storage */
const keysOf = (storage) => Array.from({ length: storage.length }, (_, index) => String(storage.key(index)));

/** @param {import('./storage-area.js').Change} change */
const isLess = ({ oldValue, newValue }) => newValue === null || newValue.length < (oldValue?.length ?? 0);

class LocalStorageMirror {
    #core;
    #segment;
    #area;
    #local;

    /** The number of the last change that was written to localStorage. */
    #pushed = 0;

    /** The value of each key when both were last equal: the one that differs from it has changed it. @type {Map<string, string>} */
    #common = new Map();

    /** Changes that are being written. @type {import('./storage-area.js').Change[]} */
    #writing = [];

    /** Counts what was written. */
    #turn = 0;

    /** Keys whose newer value did not fit into localStorage. @type {Set<string>} */
    #unwritten = new Set();

    /** Keys whose value in localStorage did not fit into the storage. @type {Set<string>} */
    #unfit = new Set();

    /** Whether the storage has become smaller since, so that they may fit. */
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

    /** Writes to localStorage what is not there yet. */
    push() {
        if (this.#core.closed) return;
        // Not what comes meanwhile: threads that write without a pause must not keep the page here.
        const { latest } = this.#area;
        while (((latest - this.#pushed) | 0) > 0) this.#pushSome();
        for (const key of [...this.#unwritten]) this.#write(key, this.#area.get(key));
        this.#retry();
        this.#updateState();
    }

    #retry() {
        if (!this.#shrunk) return;
        this.#shrunk = false;
        for (const key of [...this.#unfit]) this.#pull(key);
    }

    #pushSome() {
        const { changes, last } = this.#area.changes(this.#pushed, otherTabs);
        this.#pushed = last;
        this.#replay(changes);
    }

    /** @param {import('./storage-area.js').Change[] | undefined} changes undefined: nobody knows them any more */
    #replay(changes) {
        this.#shrunk ||= !changes || changes.some(isLess);
        if (!changes) {
            this.#writing = [];
            this.#pushAll();
            return;
        }
        this.#writing.push(...changes);
        // Firefox may dispatch `pagehide` within setItem(), which brings us here again, with what is newer.
        for (let change; (change = this.#writing.shift());) this.#write(change.key, change.newValue);
    }

    /** @param {string | null} key @param {string | null} value */
    #write(key, value) {
        const turn = ++this.#turn;
        this.#put(key, value);
        if (turn === this.#turn) return;
        // Within it newer things were written (#replay), which it has overwritten.
        if (key === null) this.#pushAll();
        else this.#write(key, this.#area.get(key));
    }

    /** @param {string | null} key @param {string | null} value */
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
            this.#unwritten.add(key); // QuotaExceededError: tried again at the next push()
        }
    }

    /** @param {string} key @param {string | null} value */
    #agree(key, value) {
        if (value === null) this.#common.delete(key);
        else this.#common.set(key, value);
    }

    /** Writes what threads have changed, and nothing else: a change by another tab stays, though its event is yet to come. */
    #pushAll() {
        for (const key of new Set([...this.#common.keys(), ...this.#area.keys()])) {
            const value = this.#area.get(key);
            if (value === (this.#common.get(key) ?? null)) continue;
            if (this.#local.getItem(key) === value) this.#agree(key, value);
            else this.#write(key, value);
        }
    }

    /** @param {StorageEvent} event */
    #onStorage({ storageArea, key }) {
        if (storageArea !== this.#local) return;
        this.push();
        if (key === null) this.#pullAll();
        else this.#pull(key);
        this.#updateState();
    }

    #catchUp() {
        this.push();
        this.#pullAll();
        this.#updateState();
    }

    #pullAll() {
        this.#unfit.clear();
        const keys = keysOf(this.#local);
        const known = new Set(keys);
        for (const key of this.#area.keys()) if (!known.has(key)) this.#pull(key);
        for (const key of keys) this.#pull(key);
    }

    /**
     * What threads have written since the last push comes before it, here as in the storage.
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
 * Begins with what localStorage holds.
 *
 * @param {import('../thread-core.js').ThreadCore} core
 * @param {number} segment
 * @param {import('./storage-area.js').StorageArea} area
 * @returns {LocalStorageMirror | undefined} undefined where there is no localStorage
 */
export function startMirror(core, segment, area) {
    const local = localStorageOf();
    if (!local) return undefined;
    const mirror = new LocalStorageMirror(core, segment, area, local);
    mirror.begin();
    return mirror;
}
