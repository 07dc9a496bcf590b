/**
 * The JavaScript side of the bridge (wasm/src/browser/bridge.hpp): the core's calls are handed to the host, the
 * host's reports to the core, and what crosses is numbers, and values that are packed one after another.
 */

import { TabacusError } from '../common/errors.js';
import { callHost } from './generated/host-calls.js';
import { hostEvents } from './generated/host-events.js';
import { decoded, nullSize, Unpacker } from './packed.js';
import { Promises } from './promises.js';
import { textDecoder, textEncoder } from './utf8.web.js';
import { version } from '../common/version.js';

/** @typedef {import('./generated/host-calls.js').Notice} Notice */

/**
 * Receives what concerns the whole program.
 *
 * @typedef {object} Owner
 * @property {(notice: Notice) => void} notice
 * @property {(error: TabacusError) => void} fail the program has trapped; called once
 */

/** The limits of one program (docs/guarantees.md). A call beyond one fails, and nothing else does. */
const textBytesMax = 2 ** 25;
const namesMax = 2 ** 17;

/** Up to this length, copying ASCII is faster than calling the encoder. */
const copiedUnitsMax = 256;
const notCopied = /[^ -~]/;

/** The names of exports that bridge/exports.js describes. What pieces share is named otherwise (scripts/lib/piece-text.js). */
const described = /^[a-z]+_/;

export class Bridge {
    #encoder = textEncoder();
    #decoder = textDecoder();

    promises = new Promises();

    /** The listeners of each counter, by its address. @type {Map<number, Set<() => void>>} */
    #counterListeners = new Map();

    /** The addresses of counters, by what they were asked for with. @type {Map<string, number>} */
    #counters = new Map();

    /** Loaded with what coordinates tabs. @type {import('../host/lock-snapshots.js').LockSnapshots} */
    lockSnapshots = /** @type {any} */ (undefined);

    /**
     * What locks and queues listen to the program with, once what coordinates tabs is loaded.
     *
     * @type {import('./coordination-listeners.js').CoordinationListeners}
     */
    listeners = /** @type {any} */ (undefined);

    /**
     * The exports of the pieces that are loaded.
     * @type {import('./program.js').Glue}
     */
    glue;

    /** The address of the program's core. */
    core = 0;

    /** The address of what coordinates tabs; 0 until it is loaded. */
    coordination = 0;

    /**
     * What the program calls that js/core/generated/host-calls.js has not.
     *
     * @type {(bridge: Bridge, ...call: import('./program.js').HostCallArguments) => unknown}
     */
    callFurther = () => undefined;

    /** @type {Set<string>} */
    #names = new Set();

    /** Why the program is not to be called any more. @type {TabacusError | undefined} */
    #failure;

    /**
     * @param {import('./program.js').Glue} glue
     * @param {import('../host/host.js').Host} host
     * @param {Owner} owner
     */
    constructor(glue, host, owner) {
        this.glue = Object.create(glue);
        this.contain(glue);
        this.host = host;
        this.owner = owner;
        glue.tabacusCall = (call, a, b, c, d, number, first, firstSize, second, secondSize) => {
            if (this.#failure) throw this.#failure;
            let result;
            try {
                result = callHost(host, this, call, a, b, c, d, number, first, firstSize, second, secondSize);
            } catch (error) {
                // What a callback of ours throws must not pass through the frames of the program, which it would leave
                // as a trap does.
                host.reportError(error);
                result = 0;
            }
            // The program has trapped within this call, and its outer frames must not go on.
            if (this.#failure) throw this.#failure;
            return result;
        };
    }

    /** @param {Notice} notice */
    notice(notice) {
        this.owner.notice({ ...notice, code: notice.failure ?? notice.code });
    }

    /** @param {number} counter */
    counterChanged(counter) {
        for (const listener of [...(this.#counterListeners.get(counter) ?? [])]) listener();
    }

    /**
     * A counter of the program. Callers that pass the same options share one.
     *
     * @param {string} asked
     * @param {() => number} make makes it, and returns its address
     * @param {() => void} changed called when its value may have changed
     * @returns {{ address: number, end: () => void }} `end` ends these calls
     */
    counter(asked, make, changed) {
        let address = this.#counters.get(asked);
        if (address === undefined) {
            this.admit(`counter/${asked}`);
            address = make();
            this.#counters.set(asked, address);
        }
        const listeners = this.#counterListeners.get(address) ?? new Set();
        this.#counterListeners.set(address, listeners);
        listeners.add(changed);
        return { address, end: () => void listeners.delete(changed) };
    }

    /**
     * Counts a name. The program keeps a record of each name for as long as it runs.
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
     * Rejects all open calls: nothing settles them any more. Later calls throw the same.
     * @param {TabacusError} error
     */
    end(error) {
        this.#failure ??= error;
        this.promises.rejectAll(error);
    }

    /**
     * Adds exports, wrapped so that a trap (WebAssembly Core §4.4) ends the program. After a trap its memory cannot be
     * relied on, so no later call may run.
     *
     * @param {import('./program.js').Glue} exports of a piece
     */
    contain(exports) {
        /** @type {any} */
        const contained = this.glue;
        for (const [name, call] of Object.entries(exports)) {
            if (!described.test(name)) continue;
            // A list of arguments would slow what is called by the million. The program ignores those that it does
            // not take (WebAssembly JavaScript Interface §5.6).
            contained[name] = /** @type {(...args: number[]) => unknown} */ (a, b, c, d, e) => {
                if (this.#failure) throw this.#failure;
                try {
                    return /** @type {any} */ (call)(a, b, c, d, e);
                } catch (cause) {
                    throw this.#trapped(name, cause);
                }
            };
        }
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
            `tabacus ${version} failed in ${call}; the tab is closed: open() another, and report this`,
            { cause },
        );
        this.owner.fail(this.#failure);
        return this.#failure;
    }

    /**
     * Makes the core's tab. Reports reach it from here on, with those that came before.
     * @param {string} namespace
     */
    start(namespace) {
        this.pack([namespace]);
        this.core = this.glue.tab_new();
        const events = hostEvents((event, number, values) => {
            try {
                this.#pack(values, Infinity); // what the store holds is read, however long
                this.glue.tab_event(this.core, event, number);
            } catch (error) {
                if (error !== this.#failure) throw error; // the owner has received it
            }
        });
        this.host.connect({
            ...events,
            settled: (operation, answer) => this.#settle(events, operation, answer),
        });
    }

    /**
     * Reports an answer, or, where there is no memory for it, that its operation has failed.
     *
     * @param {import('./generated/host-events.js').HostEvents} events
     * @param {number} operation
     * @param {(string | null)[]} [answer]
     */
    #settle(events, operation, answer) {
        try {
            events.settled(operation, answer);
        } catch (error) {
            const { code, message } = /** @type {TabacusError} */ (error);
            if (code !== 'out-of-memory') throw error;
            events.failed(operation, code, message);
        }
    }

    /**
     * Packs values for the call that follows, which unpacks them.
     *
     * @param {import('./packed.js').Packed[]} values
     * @throws {TabacusError} `out-of-memory`
     */
    pack(values) {
        this.#pack(values, textBytesMax);
    }

    /**
     * @param {import('./packed.js').Packed[]} values
     * @param {number} bytesMax
     */
    #pack(values, bytesMax) {
        if (values.length === 0) return void this.glue.tab_buffer(0);
        let size = 0;
        const encoded = values.map((value) => {
            if (typeof value === 'string') {
                const bytes = this.#encode(value);
                size += 4 + bytes.length;
                return bytes;
            }
            if (value === undefined) throw new TypeError('a value that is to be packed is missing');
            size += value === null ? 4 : 8;
            return value === null ? null : Number(value);
        });
        let at = size > bytesMax ? 0 : this.glue.tab_buffer(size);
        if (at === 0) throw new TabacusError('out-of-memory', `no memory for ${size} bytes`);
        const heap = this.glue.HEAPU8; // only here: the memory may have grown with the buffer
        const view = new DataView(heap.buffer);
        for (const bytes of encoded) {
            if (typeof bytes === 'number') {
                view.setFloat64(at, bytes, true);
                at += 8;
                continue;
            }
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

    /** Returns the text itself if it is short and ASCII, otherwise its UTF-8. @param {string} text */
    #encode(text) {
        return text.length > copiedUnitsMax || notCopied.test(text) ? this.#encoder.encode(text) : text;
    }

    /**
     * @param {number} at
     * @param {number} size
     */
    text(at, size) {
        return decoded(this.glue.HEAPU8, at, at + size, this.#decoder);
    }

    /** @param {number} at where C++ has packed values, which must be read before C++ goes on */
    unpack(at) {
        return new Unpacker(this.glue.HEAPU8, at, this.#decoder);
    }
}
