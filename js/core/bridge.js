/**
 * The JavaScript side of the bridge that wasm/src/browser/bridge.hpp describes: the core's calls are
 * handed to the host, the host's reports to the core, and what crosses is numbers and texts.
 */

import { TabacusError } from '../common/errors.js';
import { calls } from './calls.js';
import { Promises } from './promises.js';

/** The reports, in the order of `enum class HostEvent` in wasm/src/browser/bridge.hpp. */
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
 * Reports an event to the core. `number` is the operation that is settled, the channel of a message, the
 * request of a lock, or the LifecycleEvent. Never throws.
 *
 * @typedef {(event: typeof events[number], number: number, texts?: (string | null)[]) => void} Report
 */

/**
 * A notice from the core (wasm/include/tabacus/common/counter.hpp).
 *
 * @typedef {{ lost: boolean, code: string, message: string, previous: string, subject: string, recovered: number }} Notice
 */

/**
 * Callbacks of the core.
 *
 * @typedef {object} Owner
 * @property {(counter: number) => void} [changed]
 * @property {(notice: Notice) => void} notice
 * @property {(held: number, reason: string) => void} [lost] a held lock
 * @property {(watch: number) => void} [unlocked] a lock that is watched was taken or let go
 * @property {(queue: number, what: number, first: string, second: string) => void} [callback] by a queue
 */

/** The length that stands for null. */
const nullSize = 0xffffffff;

/** Up to here an encoder takes longer to call than ASCII does to copy. */
const copiedUnitsMax = 256;
const notCopied = /[^ -~]/;

export class Bridge {
    // Not of the module: importing it takes nothing of the platform, which may lack them (jsdom under Jest).
    #encoder = new TextEncoder();
    #decoder = new TextDecoder();

    promises = new Promises();

    /** @type {import('./load-module.js').Glue} */
    glue;
    #tab = 0;

    /**
     * @param {import('./load-module.js').Glue} glue
     * @param {import('../host/host.js').Host} host
     * @param {Owner} owner
     */
    constructor(glue, host, owner) {
        this.glue = glue;
        this.host = host;
        this.owner = owner;
        this.report = host.report;
        glue.tabacusCall = (what, operation, object, number, first, firstSize, second, secondSize) => {
            const args = {
                operation,
                object,
                number,
                first: this.#text(first, firstSize),
                second: this.#text(second, secondSize),
            };
            return Number(/** @type {import('./calls.js').CallHandler} */ (calls[what])(this, args) ?? 0);
        };
    }

    /**
     * Makes the core's tab. Reports reach it from here on, with those that came before.
     * @param {string} namespace
     * @param {number} program see Numbers in wasm/src/browser/core/operations.hpp
     */
    start(namespace, program) {
        this.#pack([namespace]);
        this.#tab = this.glue._tab_new(program);
        this.host.connect((event, number, texts = []) => {
            const failure = this.#packOrFail(texts);
            if (failure && event !== 'settled') throw failure;
            this.glue._tab_event(this.#tab, events.indexOf(failure ? 'failed' : event), number);
        }, program);
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
     * Calls an export of the module about its tab that unpacks no texts.
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
     * The guarantee of a counter, field by field.
     *
     * @param {number} address
     * @returns {string[]}
     */
    guarantee(address) {
        return this.promises.now((id) => this.glue._count_guarantee(address, id));
    }

    /** @returns {string[]} */
    capabilities() {
        return this.promises.now((id) => this.glue._tab_capabilities(this.#tab, id));
    }

    /**
     * The counter's address in the core.
     *
     * @param {string[]} args its name; for the catalogue also its strategy, and its times
     * @param {boolean} strict
     * @returns {number}
     */
    counter(args, strict) {
        this.#pack(args);
        let address = 0;
        this.promises.now((id) => (address = this.glue._tab_counter(this.#tab, strict ? 1 : 0, id)));
        return address;
    }

    /**
     * Packs an answer, or, where there is no memory for it, the failure of its operation.
     *
     * @param {(string | null)[]} texts
     * @returns {TabacusError | undefined} why the answer is not packed
     */
    #packOrFail(texts) {
        try {
            this.#pack(texts);
            return undefined;
        } catch (error) {
            const { code, message } = /** @type {TabacusError} */ (error);
            this.#pack([code, message]);
            return /** @type {TabacusError} */ (error);
        }
    }

    /**
     * The size and the UTF-8 of each text, where the core unpacks them.
     * @param {(string | null)[]} texts
     */
    #pack(texts) {
        if (texts.length === 0) return void this.glue._tab_buffer(0);
        let size = 0;
        const encoded = texts.map((text) => {
            // A strange host may give anything.
            const bytes = text ? this.#encode(String(text)) : text === null ? null : '';
            size += 4 + (bytes?.length ?? 0);
            return bytes;
        });
        let at = this.glue._tab_buffer(size);
        if (at === 0) throw new TabacusError('out-of-memory', `no memory for ${size} bytes`);
        const heap = this.glue.HEAPU8; // only here: the memory may have grown with the buffer
        const view = new DataView(heap.buffer);
        for (const bytes of encoded) {
            view.setUint32(at, bytes === null ? nullSize : bytes.length, true);
            at += 4;
            if (typeof bytes === 'string') {
                for (let i = 0; i < bytes.length; i++) heap[at + i] = bytes.charCodeAt(i);
            } else if (bytes) {
                heap.set(bytes, at);
            }
            at += bytes?.length ?? 0;
        }
    }

    /** Itself, if its UTF-8 is its code units and it is short. @param {string} text */
    #encode(text) {
        return text.length > copiedUnitsMax || notCopied.test(text) ? this.#encoder.encode(text) : text;
    }

    /**
     * @param {number} at
     * @param {number} size
     */
    #text(at, size) {
        if (size === 0) return '';
        return this.#decoder.decode(this.glue.HEAPU8.subarray(at, at + size));
    }
}
