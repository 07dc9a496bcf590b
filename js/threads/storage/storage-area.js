/**
 * The items of the storage that threads share (storage_table.hpp), as one thread accesses them. A thread is
 * *inside* the segment while it holds the segment's mutex; one thread is inside at a time.
 */

import { TabacusError } from '../../common/errors.js';
import { QuotaExceededError } from '../../platform/events.js';
import { changeFields, itemFields, otherTabs, segmentFields, stored } from '../segment/segment-layout.js';
import { Texts } from '../segment/texts.js';

/**
 * A change, with the attributes of a StorageEvent.
 *
 * @typedef {{ key: string | null, oldValue: string | null, newValue: string | null }} Change
 */

/**
 * The most checks whether the segment is free. Each takes a millisecond or a few. While threads write without
 * a pause, a check may never find the segment free.
 */
const checksMax = 50;

/** The most changes that are read at once, before other threads may go inside. */
const batchMax = 64;

/** @typedef {import('../../platform/storage-interface.js').Items} Items */

/**
 * Some changes, and the number of the last change that was read. `changes` is undefined if the changes are
 * not recorded any more.
 *
 * @typedef {{ changes: Change[] | undefined, last: number }} ChangeBatch
 */

/** @implements {Items} */
export class StorageArea {
    #core;
    #ops;
    #segment;
    #texts;
    #version;

    /** The values that were read at the version `#readVersion`, by key. @type {Map<string, string>} */
    #values = new Map();

    /** The keys, if they were read at that version. @type {string[] | null} */
    #keys = null;
    #readVersion = -1;

    /** The number of the last change that this thread was notified of, once it listens. @type {number | undefined} */
    seen;

    /** Called after each change that this thread makes. */
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

    /** Returns the value of a key, or null. @param {string} key */
    get(key) {
        this.#refresh();
        const known = this.#values.get(key);
        if (known !== undefined) return known;
        const value = this.#inside(() => this.#find(key));
        if (value !== null) this.#values.set(key, value);
        return value;
    }

    /** Returns all keys. */
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

    /** Sets the value of a key. @param {string} key @param {string} value @throws {QuotaExceededError} */
    set(key, value) {
        if (this.#write(key, value) === stored.full) throw new QuotaExceededError('the storage is full');
        this.onWrite();
    }

    /** Removes a key. @param {string} key */
    remove(key) {
        this.#write(key, null);
        this.onWrite();
    }

    /** Removes all keys. */
    clear() {
        this.#own(() => this.#ops.storage_clear(this.#segment, this.#core.id));
        this.onWrite();
    }

    /**
     * Writes the change of another tab, and reads the changes that threads have made before, in one atomic
     * step.
     *
     * @param {number} after the number of a change
     * @param {string} key
     * @param {string | null} value null removes the key
     * @returns {ChangeBatch & { full: boolean }} the changes of threads after `after`; `full` if there was no
     *   space for the value
     */
    writeOther(after, key, value) {
        return this.#inside(() => {
            const { changes } = this.#readChanges(after, otherTabs, Infinity);
            const full = this.#put(key, value, otherTabs) === stored.full;
            return { changes, full, last: this.latest };
        });
    }

    /**
     * Writes a change of this thread.
     *
     * @param {string} key
     * @param {string | null} value
     * @returns {number} one of `stored`
     */
    #write(key, value) {
        return this.#own(() => this.#put(key, value, this.#core.id));
    }

    /**
     * Makes a change inside. This thread is not notified of its own change.
     *
     * @param {() => number} work
     * @returns {number} one of `stored`
     */
    #own(work) {
        return this.#inside(() => {
            const before = this.latest;
            const done = work();
            if (this.seen === before) this.seen = this.latest;
            return done;
        });
    }

    /**
     * Writes a change. Requires that this thread is inside.
     *
     * @param {string} key
     * @param {string | null} value null removes the key
     * @param {number} writer the number of the thread that makes the change, or `otherTabs`
     * @returns {number} one of `stored`
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

    /**
     * Makes the storage record its changes for some time, from here on.
     *
     * @returns {number} the number of the last change
     */
    listen() {
        return this.#inside(() => {
            this.#ops.storage_listen(this.#segment);
            return this.latest;
        });
    }

    /**
     * Resolves when this thread can probably go inside without waiting. The page must not block for a thread
     * that was terminated inside, because a blocked page does not learn of that thread's exit.
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

    /** The index of the word with that number. */
    get latestWord() {
        return (this.#segment + segmentFields.lastChange) >> 2;
    }

    /**
     * Reads the next changes that others than `self` have made, at most `batchMax` of them.
     *
     * @param {number} after the number of the change after which to begin
     * @param {number} self the number of a thread, or `otherTabs`
     * @returns {ChangeBatch}
     */
    changes(after, self) {
        return this.#inside(() => this.#readChanges(after, self, batchMax));
    }

    /**
     * Reads changes. Requires that this thread is inside.
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

    /** Reads a change. Requires that this thread is inside. @param {number} change @returns {Change} */
    #read(change) {
        const text = (/** @type {number} */ field) => this.#texts.readIf(this.#texts.word(change, field));
        return {
            key: text(changeFields.key),
            oldValue: text(changeFields.oldValue),
            newValue: text(changeFields.newValue),
        };
    }

    /** Forgets the values that were read, if the storage has changed since. */
    #refresh() {
        this.#core.assertOpen();
        const version = Atomics.load(this.#core.words, this.#version);
        if (version === this.#readVersion) return;
        this.#readVersion = version;
        this.#keys = null;
        this.#values.clear();
    }

    /** Finds the value of a key. Requires that this thread is inside. @param {string} key */
    #find(key) {
        const text = this.#text(key);
        if (text === 0) return null; // longer than any key of the storage
        const item = this.#ops.storage_find(this.#segment, text);
        this.#ops.storage_free(this.#segment, text);
        return item === 0 ? null : this.#texts.read(this.#texts.word(item, itemFields.value));
    }

    /**
     * Writes a text into blocks of the segment.
     *
     * @param {string} from
     * @returns its first block; 0 if there is no space
     */
    #text(from) {
        this.#assertInside();
        const text = this.#ops.storage_text(this.#segment, from.length);
        if (text !== 0) this.#texts.write(text, from);
        return text;
    }

    /**
     * Goes inside, and calls `work` there.
     *
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

    /** Checks that this thread is still inside: if it was stopped for too long, it was presumed dead. */
    #assertInside() {
        if (this.#ops.storage_inside(this.#segment, this.#core.id)) return;
        throw new TabacusError('lock-lost', 'this thread stopped inside the storage, and was presumed dead');
    }
}
