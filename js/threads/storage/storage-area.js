/** The items of the storage that threads share (storage_table.hpp), as one thread sees them. */

import { TabacusError } from '../../common/errors.js';
import { QuotaExceededError } from '../../platform/events.js';
import { changeFields, itemFields, otherTabs, roomFields, stored } from '../segment/segment-layout.js';
import { Texts } from '../segment/texts.js';

/**
 * A change, as a StorageEvent tells it.
 *
 * @typedef {{ key: string | null, oldValue: string | null, newValue: string | null }} Change
 */

/** Each is a millisecond or a few; among threads that write without a pause it is by luck that none is inside. */
const looksMax = 50;

/** So many changes are read before others may go inside. */
const batchMax = 64;

/** @typedef {import('../../platform/storage-interface.js').Items} Items */

/**
 * Some changes, and the number of the last that was looked at.
 *
 * @typedef {{ changes: Change[] | undefined, last: number }} Told undefined: not known any more
 */

/** @implements {Items} */
export class StorageArea {
    #core;
    #ops;
    #room;
    #texts;
    #version;

    /** What was read, at `#seen`: of keys that are there. @type {Map<string, string>} */
    #values = new Map();

    /** @type {string[] | null} */
    #keys = null;
    #seen = -1;

    /** The last change that this thread needs no telling of, once it listens. @type {number | undefined} */
    heard;

    /** Called after each change that is made here. */
    written = () => {};

    /**
     * @param {import('../thread-core.js').Core} core
     * @param {import('../segment/segment.js').StoreOps} ops
     * @param {number} room
     */
    constructor(core, ops, room) {
        this.#core = core;
        this.#ops = ops;
        this.#room = room;
        this.#texts = new Texts(core, room);
        this.#version = (room + roomFields.version) >> 2;
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
            let item = Number(this.#core.words[(this.#room + roomFields.first) >> 2]);
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
        this.written();
    }

    /** @param {string} key */
    remove(key) {
        this.#write(key, null);
        this.written();
    }

    clear() {
        this.#own(() => this.#ops.storage_clear(this.#room, this.#core.id));
        this.written();
    }

    /**
     * What the page heard of another tab, and what threads have changed before that: nobody gets between.
     *
     * @param {number} after the number of a change
     * @param {string} key
     * @param {string | null} value null removes
     * @returns {Told & { full: boolean }} the changes after that one, but for this one
     */
    writeOther(after, key, value) {
        return this.#inside(() => {
            const { changes } = this.#told(after, otherTabs, Infinity);
            const full = this.#put(key, value, otherTabs) === stored.full;
            return { changes, full, last: this.news };
        });
    }

    /** @param {string} key @param {string | null} value */
    #write(key, value) {
        return this.#own(() => this.#put(key, value, this.#core.id));
    }

    /** What this thread writes is no news to it. @param {() => number} work @returns {number} of stored */
    #own(work) {
        return this.#inside(() => {
            const before = this.news;
            const done = work();
            if (this.heard === before) this.heard = this.news;
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
        if (value === null) return this.#ops.storage_remove(this.#room, writer, name);
        if (text !== 0) return this.#ops.storage_set(this.#room, writer, name, text);
        this.#ops.storage_give(this.#room, name);
        return stored.full;
    }

    /** From here on changes are kept for some time. @returns {number} of the last one */
    listen() {
        return this.#inside(() => {
            this.#ops.storage_listen(this.#room);
            return this.news;
        });
    }

    /**
     * Resolves when going inside will not keep this thread. Who waits for deaths of others to be told of must not wait
     * inside for one who never leaves.
     */
    async calm() {
        for (let looks = 0; looks < looksMax; looks++) {
            if (this.#ops.storage_occupied(this.#room) === 0) return;
            await new Promise((resolve) => void setTimeout(resolve, 1));
        }
    }

    /** The number of the last change. */
    get news() {
        return Atomics.load(this.#core.words, this.newsWord);
    }

    get newsWord() {
        return (this.#room + roomFields.news) >> 2;
    }

    /**
     * What others than `self` have changed after the change of that number, some of it.
     *
     * @param {number} after
     * @param {number} self
     * @returns {Told}
     */
    changes(after, self) {
        return this.#inside(() => this.#told(after, self, batchMax));
    }

    /**
     * Inside.
     *
     * @param {number} after
     * @param {number} self
     * @param {number} most
     * @returns {Told}
     */
    #told(after, self, most) {
        /** @type {Change[]} */
        const changes = [];
        const last = this.news;
        let number = after;
        while (number !== last && changes.length < most) {
            number = (number + 1) | 0;
            const change = this.#ops.storage_change(this.#room, number);
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
        if (version === this.#seen) return;
        this.#seen = version;
        this.#keys = null;
        this.#values.clear();
    }

    /** @param {string} key */
    #find(key) {
        const text = this.#text(key);
        if (text === 0) return null; // too long for any that is here
        const item = this.#ops.storage_find(this.#room, text);
        this.#ops.storage_give(this.#room, text);
        return item === 0 ? null : this.#texts.read(this.#texts.word(item, itemFields.value));
    }

    /** @param {string} from */
    #text(from) {
        this.#assertInside();
        const text = this.#ops.storage_text(this.#room, from.length);
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
        this.#ops.storage_enter(this.#room, id, maySleep ? 1 : 0);
        try {
            return work();
        } finally {
            this.#ops.storage_leave(this.#room, id);
        }
    }

    #assertInside() {
        if (this.#ops.storage_inside(this.#room, this.#core.id)) return;
        throw new TabacusError(
            'lock-lost',
            'this thread stood still inside the storage, and was taken for dead',
        );
    }
}
