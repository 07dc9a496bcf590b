/**
 * The JavaScript side of the border that wasm/src/browser/border.hpp describes: the core's calls are
 * handed to the host, the host's reports to the core, and what crosses is numbers and texts.
 */

import { calls } from './calls.js';
import { Promises } from './promises.js';

/** The reports, in the order of `enum class Event` in wasm/src/browser/border.hpp. */
const events = /** @type {const} */ ([
    'settled',
    'failed',
    'storageChanged',
    'databaseCreated',
    'databaseClosed',
    'lockLost',
    'message',
    'lifecycle',
]);

/**
 * Tells the core of something. `number` is the operation that is settled, the channel of a message, the
 * request of a lock, or the event of a page's life. Never throws.
 *
 * @typedef {(event: typeof events[number], number: number, texts?: (string | null)[]) => void} Report
 */

/**
 * A notice of the core's (wasm/include/tabacus/counter.hpp).
 *
 * @typedef {{ lost: boolean, code: string, message: string, previous: string, subject: string, healed: number }} Notice
 */

/**
 * Whom the core calls on its own account.
 *
 * @typedef {object} Owner
 * @property {(counter: number) => void} changed
 * @property {(notice: Notice) => void} notice
 * @property {(held: number, reason: string) => void} [lost] a held lock
 * @property {(watch: number) => void} [unlocked] a lock that is watched was taken or let go
 * @property {(queue: number, what: number, first: string, second: string) => void} [told] by a queue
 */

/** The length that stands for null. */
const nullSize = 0xffffffff;

const nothing = new Uint8Array();

/** How many texts are kept as bytes, and of what length. */
const encodedMax = 64;
const encodedUnitsMax = 64;

export class Border {
    // Not of the module: importing it takes nothing of the platform, which may lack them (jsdom under Jest).
    #encoder = new TextEncoder();
    #decoder = new TextDecoder();

    promises = new Promises();

    /** @type {import('./tab-core.js').Glue} */
    glue;
    #tab = 0;

    /** @type {Map<string, Uint8Array>} */
    #encoded = new Map();

    /**
     * @param {import('./tab-core.js').Glue} glue
     * @param {import('../host/host.js').Host} host
     * @param {Owner} owner
     */
    constructor(glue, host, owner) {
        this.glue = glue;
        this.host = host;
        this.owner = owner;
        this.report = host.report;
        glue.tabacusCall = (what, operation, object, number, first, firstSize, second, secondSize) => {
            const words = {
                operation,
                object,
                number,
                first: this.#text(first, firstSize),
                second: this.#text(second, secondSize),
            };
            return Number(/** @type {import('./calls.js').CallHandler} */ (calls[what])(this, words) ?? 0);
        };
    }

    /**
     * Makes the core's tab. Reports reach it from here on, with those that came before.
     * @param {string} namespace
     */
    start(namespace) {
        this.#pack([namespace]);
        this.#tab = this.glue._tab_new();
        this.host.connect((event, number, texts = []) => {
            this.#pack(texts);
            this.glue._tab_event(this.#tab, events.indexOf(event), number);
        });
    }

    /**
     * Calls an export of the module about its tab, with texts where it unpacks them.
     *
     * @param {string} name
     * @param {(string | null)[]} texts
     * @param {number[]} numbers
     * @returns {any}
     */
    invoke(name, texts, ...numbers) {
        this.#pack(texts);
        return this.number(name, ...numbers);
    }

    /**
     * The same of an export that unpacks no texts.
     *
     * @param {string} name
     * @param {number[]} numbers
     * @returns {any}
     */
    number(name, ...numbers) {
        return /** @type {any} */ (this.glue)[name](this.#tab, ...numbers);
    }

    /** @returns {Promise<unknown>} */
    open() {
        return this.promises.make((id) => this.glue._tab_open(this.#tab, id));
    }

    /** @returns {Promise<unknown>} */
    close() {
        return this.promises.make((id) => this.glue._tab_close(this.#tab, id));
    }

    /**
     * What the core says of a counter, field by field.
     *
     * @param {number} address
     * @returns {string[]}
     */
    guarantee(address) {
        return this.promises.now((id) => this.glue._tally_guarantee(address, id));
    }

    /** @returns {string[]} */
    capabilities() {
        return this.promises.now((id) => this.glue._tab_capabilities(this.#tab, id));
    }

    /**
     * The counter's address in the core.
     *
     * @param {string[]} words its name; for the catalogue also its strategy, and its times
     * @param {boolean} strict
     * @returns {number}
     */
    counter(words, strict) {
        this.#pack(words);
        let address = 0;
        this.promises.now((id) => (address = this.glue._tab_counter(this.#tab, strict ? 1 : 0, id)));
        return address;
    }

    /**
     * The size and the UTF-8 of each text, where the core unpacks them.
     * @param {(string | null)[]} texts
     */
    #pack(texts) {
        if (texts.length === 0) return void this.glue._tab_room(0);
        const encoded = texts.map((text) => (text ? this.#encode(text) : text === null ? null : nothing));
        const size = encoded.reduce((sum, bytes) => sum + 4 + (bytes?.length ?? 0), 0);
        const room = this.glue._tab_room(size);
        const heap = this.glue.HEAPU8; // only here: making room may have grown the memory
        const view = new DataView(heap.buffer);
        let at = room;
        for (const bytes of encoded) {
            view.setUint32(at, bytes ? bytes.length : nullSize, true);
            if (bytes) heap.set(bytes, at + 4);
            at += 4 + (bytes?.length ?? 0);
        }
    }

    /** Short texts come again and again: names. @param {string} text */
    #encode(text) {
        const known = this.#encoded.get(text);
        if (known) return known;
        const bytes = this.#encoder.encode(text);
        if (this.#encoded.size >= encodedMax) this.#encoded.clear();
        if (text.length <= encodedUnitsMax) this.#encoded.set(text, bytes);
        return bytes;
    }

    /**
     * @param {number} at
     * @param {number} size
     */
    #text(at, size) {
        // A copy: browsers refuse to decode from memory that is shared.
        return size === 0 ? '' : this.#decoder.decode(this.glue.HEAPU8.slice(at, at + size));
    }
}
