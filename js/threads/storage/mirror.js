/**
 * The page's part in the storage that threads share: what they write goes to localStorage, in the one order
 * in which it was written; what other tabs write there comes back.
 *
 * The two are equal whenever nothing is on its way. Where a thread and another tab have written one key at
 * once, localStorage decides: what the threads wrote is written there first, and what is there then is read.
 */

import { mirrorStates, otherTabs, roomFields } from '../segment/segment-layout.js';
import { task } from '../../common/macrotask.js';
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

class Mirror {
    #core;
    #room;
    #area;
    #local;
    #heard = 0;

    /** What both had of a key when they were last equal: who differs from it since has changed it. @type {Map<string, string>} */
    #common = new Map();

    /** Changes that are being written. @type {import('./storage-area.js').Change[]} */
    #writing = [];

    /** Counts what was written. */
    #turn = 0;

    /** Keys of which localStorage has an older value, since the newer one did not fit. @type {Set<string>} */
    #owed = new Set();

    /** Keys of which localStorage has what the storage had no room for. @type {Set<string>} */
    #unfit = new Set();

    /** Whether there may be room for them since. */
    #roomier = false;

    /**
     * @param {import('../thread-core.js').Core} core
     * @param {number} room
     * @param {import('./storage-area.js').StorageArea} area
     * @param {Storage} local
     */
    constructor(core, room, area, local) {
        this.#core = core;
        this.#room = room;
        this.#area = area;
        this.#local = local;
    }

    begin() {
        this.#pullAll();
        this.#heard = this.#area.listen();
        this.#say();
        const ending = { signal: this.#core.ending };
        window.addEventListener('storage', (event) => this.#hear(event), ending);
        window.addEventListener('pagehide', () => this.push(), ending);
        // Nobody was told what changed while the page was in the back/forward cache.
        window.addEventListener('pageshow', ({ persisted }) => persisted && this.#catchUp(), ending);
        void this.#listen();
    }

    async #listen() {
        while (!this.#core.closed) {
            await this.#area.calm();
            if (this.#core.closed) return;
            if (this.#heard !== this.#area.news) {
                this.#pushSome();
                await task();
                continue;
            }
            this.push();
            await sleepAsync(this.#core.words, this.#area.newsWord, this.#heard, Infinity, this.#core.ending);
        }
    }

    /** Writes to localStorage what is not there yet. */
    push() {
        if (this.#core.closed) return;
        // Not what comes meanwhile: threads that write without a pause must not keep the page here.
        const { news } = this.#area;
        while (((news - this.#heard) | 0) > 0) this.#pushSome();
        for (const key of [...this.#owed]) this.#write(key, this.#area.get(key));
        this.#retry();
        this.#say();
    }

    #retry() {
        if (!this.#roomier) return;
        this.#roomier = false;
        for (const key of [...this.#unfit]) this.#pull(key);
    }

    #pushSome() {
        const { changes, last } = this.#area.changes(this.#heard, otherTabs);
        this.#heard = last;
        this.#replay(changes);
    }

    /** @param {import('./storage-area.js').Change[] | undefined} changes undefined: nobody knows them any more */
    #replay(changes) {
        this.#roomier ||= !changes || changes.some(isLess);
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
            this.#owed.clear();
            this.#unfit.clear();
            return;
        }
        this.#owed.delete(key);
        this.#unfit.delete(key);
        try {
            if (value === null) this.#local.removeItem(key);
            else this.#local.setItem(key, value);
            this.#agree(key, value);
        } catch {
            this.#owed.add(key); // QuotaExceededError: as soon as there is room
        }
    }

    /** @param {string} key @param {string | null} value */
    #agree(key, value) {
        if (value === null) this.#common.delete(key);
        else this.#common.set(key, value);
    }

    /** What threads have changed, and nothing else: what another tab has, of which this page is yet to hear, stays. */
    #pushAll() {
        for (const key of new Set([...this.#common.keys(), ...this.#area.keys()])) {
            const value = this.#area.get(key);
            if (value === (this.#common.get(key) ?? null)) continue;
            if (this.#local.getItem(key) === value) this.#agree(key, value);
            else this.#write(key, value);
        }
    }

    /** @param {StorageEvent} event */
    #hear({ storageArea, key }) {
        if (storageArea !== this.#local) return;
        this.push();
        if (key === null) this.#pullAll();
        else this.#pull(key);
        this.#say();
    }

    #catchUp() {
        this.push();
        this.#pullAll();
        this.#say();
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
        if (this.#owed.has(key)) return;
        const value = this.#local.getItem(key);
        const { changes, full, last } = this.#area.writeOther(this.#heard, key, value);
        this.#heard = last;
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

    #say() {
        const state = this.#owed.size > 0 || this.#unfit.size > 0 ? 'behind' : 'mirrored';
        Atomics.store(this.#core.words, (this.#room + roomFields.mirror) >> 2, mirrorStates.indexOf(state));
    }
}

/**
 * Begins with what localStorage holds.
 *
 * @param {import('../thread-core.js').Core} core
 * @param {number} room
 * @param {import('./storage-area.js').StorageArea} area
 * @returns {Mirror | undefined} undefined where there is no localStorage
 */
export function mirrored(core, room, area) {
    const local = localStorageOf();
    if (!local) return undefined;
    const mirror = new Mirror(core, room, area, local);
    mirror.begin();
    return mirror;
}
