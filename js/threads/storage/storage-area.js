/** The items of the storage that threads share (storage_table.hpp), as one thread sees them. */

import { TabacusError } from '../../common/errors.js';
import { QuotaExceededError } from '../../platform/events.js';
import { changeFields, itemFields, otherTabs, segmentFields, stored } from '../segment/segment-layout.js';
import { Texts } from '../segment/texts.js';

/**
 * A change, with the attributes of a StorageEvent.
 *
 * @typedef {{ key: string | null, oldValue: string | null, newValue: string | null }} Change
 */

/** Each takes a millisecond or a few. While threads write without a pause, it is luck to find none inside. */
const checksMax = 50;

/** So many changes are read before others may go inside. */
const batchMax = 64;

/** @typedef {import('../../platform/storage-interface.js').Items} Items */

/**
 * Some changes, and the number of the last change that was read.
 *
 * @typedef {{ changes: Change[] | undefined, last: number }} ChangeBatch undefined: no longer known
 */

/** @implements {Items} */
export class StorageArea {
    #core;
    #ops;
    #segment;
    #texts;
    #version;

    /** What was read, at `#readVersion`: of keys that are there. @type {Map<string, string>} */
    #values = new Map();

    /** @type {string[] | null} */
    #keys = null;
    #readVersion = -1;

    /** The number of the last change that this thread was notified of, once it listens. @type {number | undefined} */
    seen;

    /** Called after each change that is made here. */
    onWrite = () => {};

    /**
     * @param {import('../thread-core.js').ThreadCore} core
     * @param {import('../segment/open-segment.js').StoreOps} ops
     * @param {number} segment
     */
    constructor(core, ops, segment) {
        this.#core = core;
        this.#ops = ops;
        this.#segment = segment;
        this.#texts = new Texts(core, segment);
        this.#version = (segment + segmentFields.version) >> 2;
    }

    /** @param {string} key */
    get(key) {
        this.#refresh();
        const known = this.#values.get(key);
        if (known !== undefined) return known;
        const value = this.#inside(() => this.#find(key));
        if (value !== null) this.#values.set(key, value);
        return value;
    }

    keys() {
        this.#refresh();
        this.#keys ??= this.#inside(() => {
            const keys = [];
            let item = Number(this.#core.words[(this.#segment + segmentFields.first) >> 2]);
            for (; item !== 0; item = this.#texts.word(item, itemFields.next)) {
                keys.push(this.#texts.read(this.#texts.word(item, itemFields.key)));
            }
            return keys;
        });
        return this.#keys;
    }

    /** @param {string} key @param {string} value */
    set(key, value) {
        if (this.#write(key, value) === stored.full) throw new QuotaExceededError('the storage is full');
        this.onWrite();
    }

    /** @param {string} key */
    remove(key) {
        this.#write(key, null);
        this.onWrite();
    }

    clear() {
        this.#own(() => this.#ops.storage_clear(this.#segment, this.#core.id));
        this.onWrite();
    }

    /**
     * Writes what the page received from another tab, and reads what threads have changed before that, with
     * nothing in between.
     *
     * @param {number} after the number of a change
     * @param {string} key
     * @param {string | null} value null removes
     * @returns {ChangeBatch & { full: boolean }} the changes after that one, but for this one
     */
    writeOther(after, key, value) {
        return this.#inside(() => {
            const { changes } = this.#readChanges(after, otherTabs, Infinity);
            const full = this.#put(key, value, otherTabs) === stored.full;
            return { changes, full, last: this.latest };
        });
    }

    /** @param {string} key @param {string | null} value */
    #write(key, value) {
        return this.#own(() => this.#put(key, value, this.#core.id));
    }

    /** Writes. This thread is not notified of what it writes itself. @param {() => number} work @returns {number} of stored */
    #own(work) {
        return this.#inside(() => {
            const before = this.latest;
            const done = work();
            if (this.seen === before) this.seen = this.latest;
            return done;
        });
    }

    /**
     * Inside.
     *
     * @param {string} key
     * @param {string | null} value null removes
     * @param {number} writer
     * @returns {number} of stored
     */
    #put(key, value, writer) {
        const name = this.#text(key);
        if (name === 0) return value === null ? stored.unchanged : stored.full;
        const text = value === null ? 0 : this.#text(value);
        this.#assertInside();
        if (value === null) return this.#ops.storage_remove(this.#segment, writer, name);
        if (text !== 0) return this.#ops.storage_set(this.#segment, writer, name, text);
        this.#ops.storage_free(this.#segment, name);
        return stored.full;
    }

    /** From here on changes are kept for some time. @returns {number} of the last one */
    listen() {
        return this.#inside(() => {
            this.#ops.storage_listen(this.#segment);
            return this.latest;
        });
    }

    /**
     * Resolves when this thread can probably go inside without waiting. The page must not block there for a thread
     * that never leaves: it could not learn of that thread's exit meanwhile.
     */
    async unoccupied() {
        for (let checks = 0; checks < checksMax; checks++) {
            if (this.#ops.storage_occupied(this.#segment) === 0) return;
            await new Promise((resolve) => void setTimeout(resolve, 1));
        }
    }

    /** The number of the last change. */
    get latest() {
        return Atomics.load(this.#core.words, this.latestWord);
    }

    get latestWord() {
        return (this.#segment + segmentFields.lastChange) >> 2;
    }

    /**
     * What others than `self` have changed after the change of that number, some of it.
     *
     * @param {number} after
     * @param {number} self
     * @returns {ChangeBatch}
     */
    changes(after, self) {
        return this.#inside(() => this.#readChanges(after, self, batchMax));
    }

    /**
     * Inside.
     *
     * @param {number} after
     * @param {number} self
     * @param {number} most
     * @returns {ChangeBatch}
     */
    #readChanges(after, self, most) {
        /** @type {Change[]} */
        const changes = [];
        const last = this.latest;
        let number = after;
        while (number !== last && changes.length < most) {
            number = (number + 1) | 0;
            const change = this.#ops.storage_change(this.#segment, number);
            if (change === 0) return { changes: undefined, last };
            if (this.#texts.word(change, changeFields.writer) !== self) changes.push(this.#read(change));
        }
        return { changes, last: number };
    }

    /** @param {number} change @returns {Change} */
    #read(change) {
        const text = (/** @type {number} */ field) => this.#texts.readIf(this.#texts.word(change, field));
        return {
            key: text(changeFields.key),
            oldValue: text(changeFields.oldValue),
            newValue: text(changeFields.newValue),
        };
    }

    /** What was read stays known until anything is written. */
    #refresh() {
        this.#core.assertOpen();
        const version = Atomics.load(this.#core.words, this.#version);
        if (version === this.#readVersion) return;
        this.#readVersion = version;
        this.#keys = null;
        this.#values.clear();
    }

    /** @param {string} key */
    #find(key) {
        const text = this.#text(key);
        if (text === 0) return null; // too long for any that is here
        const item = this.#ops.storage_find(this.#segment, text);
        this.#ops.storage_free(this.#segment, text);
        return item === 0 ? null : this.#texts.read(this.#texts.word(item, itemFields.value));
    }

    /** @param {string} from */
    #text(from) {
        this.#assertInside();
        const text = this.#ops.storage_text(this.#segment, from.length);
        if (text !== 0) this.#texts.write(text, from);
        return text;
    }

    /**
     * @template T
     * @param {() => T} work
     * @returns {T}
     */
    #inside(work) {
        const { id, maySleep } = this.#core;
        this.#core.assertOpen();
        this.#ops.storage_enter(this.#segment, id, maySleep ? 1 : 0);
        try {
            return work();
        } finally {
            this.#ops.storage_leave(this.#segment, id);
        }
    }

    #assertInside() {
        if (this.#ops.storage_inside(this.#segment, this.#core.id)) return;
        throw new TabacusError('lock-lost', 'this thread stopped inside the storage, and was presumed dead');
    }
}
