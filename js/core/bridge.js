/**
 * The JavaScript side of the bridge that wasm/src/browser/bridge.hpp describes: the core's calls are
 * handed to the host, the host's reports to the core, and what crosses is numbers and texts.
 */

import { TabacusError } from '../common/errors.js';
import { calls } from './calls.js';
import { Promises } from './promises.js';
import { version } from '../common/version.js';

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
 * Who is told of what is about the program as a whole.
 *
 * @typedef {object} Owner
 * @property {(notice: Notice) => void} notice
 * @property {(error: TabacusError) => void} fail the program has trapped; called once
 */

/**
 * What the core calls, by the number under which the core knows it.
 *
 * @typedef {object} Callbacks
 * @property {Map<number, () => void>} changed counters
 * @property {Map<number, (reason: string) => void>} lost held locks
 * @property {Map<number, () => void>} unlocked watches of locks that were taken or let go
 * @property {Map<number, (what: number, first: string, second: string) => void>} queue
 */

/** The length that stands for null. */
const nullSize = 0xffffffff;

/** The limits of one program (docs/guarantees.md): beyond them a call fails, and nothing else does. */
const textBytesMax = 2 ** 25;
const namesMax = 2 ** 17;

/** Up to here an encoder takes longer to call than ASCII does to copy. */
const copiedUnitsMax = 256;
const notCopied = /[^ -~]/;

export class Bridge {
    // Not of the module: importing it takes nothing of the platform, which may lack them (jsdom under Jest).
    #encoder = new TextEncoder();
    #decoder = new TextDecoder();

    promises = new Promises();

    /** @type {Callbacks} */
    callbacks = { changed: new Map(), lost: new Map(), unlocked: new Map(), queue: new Map() };

    /** @type {import('./load-module.js').Glue} */
    glue;
    #tab = 0;
    #last = 0;

    /** @type {Set<string>} */
    #names = new Set();

    /** Why the program is not to be called any more. @type {TabacusError | undefined} */
    #failure;

    /**
     * @param {import('./load-module.js').Glue} glue
     * @param {import('../host/host.js').Host} host
     * @param {Owner} owner
     */
    constructor(glue, host, owner) {
        this.glue = this.#contained(glue);
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

    /** A number for a request or a watch, which no other of this program has. */
    take() {
        return ++this.#last;
    }

    /**
     * The program keeps something of each name for as long as it runs.
     *
     * @param {string} name
     * @throws {TabacusError} `out-of-memory`
     */
    admit(name) {
        if (this.#names.has(name)) return;
        if (this.#names.size === namesMax) {
            throw new TabacusError(
                'out-of-memory',
                `this tab uses ${namesMax} names, and has no room for another`,
            );
        }
        this.#names.add(name);
    }

    /**
     * What is open is rejected, since nothing settles it any more.
     * @param {TabacusError} error
     */
    end(error) {
        this.promises.rejectAll(error);
    }

    /**
     * The exports, such that a trap (WebAssembly Core §4.4), after which the memory is in no state that can be relied
     * on, ends the program instead of being met by whoever calls it next.
     *
     * @param {import('./load-module.js').Glue} glue
     * @returns {import('./load-module.js').Glue}
     */
    #contained(glue) {
        const exports = /** @type {Record<string, any>} */ (/** @type {unknown} */ (glue));
        const contained = Object.create(glue);
        for (const name of Object.keys(exports).filter((key) => key.startsWith('_'))) {
            const call = exports[name];
            const all = (/** @type {number[]} */ ...args) => {
                if (this.#failure) throw this.#failure;
                try {
                    return call(...args);
                } catch (cause) {
                    throw this.#trapped(name.slice(1), cause);
                }
            };
            const two = (/** @type {number} */ object, /** @type {number} */ number) => {
                if (this.#failure) throw this.#failure;
                try {
                    return call(object, number);
                } catch (cause) {
                    throw this.#trapped(name.slice(1), cause);
                }
            };
            // counter.add() and the like, which are called by the million, take no list of arguments.
            contained[name] = call.length > 2 ? all : two;
        }
        return contained;
    }

    /**
     * @param {string} call that trapped
     * @param {unknown} cause
     * @returns {TabacusError}
     */
    #trapped(call, cause) {
        if (this.#failure) return this.#failure;
        this.#failure = new TabacusError(
            'internal',
            `tabacus ${version} failed in ${call}, and this tab of it is closed: open() another`,
            { cause },
        );
        this.owner.fail(this.#failure);
        return this.#failure;
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

    /** @returns {Promise<void>} */
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
        this.admit(`counter/${args.join()}/${strict}`);
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
        let at = size > textBytesMax ? 0 : this.glue._tab_buffer(size);
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
