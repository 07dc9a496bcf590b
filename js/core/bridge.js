/**
 * The JavaScript side of the bridge (wasm/src/browser/bridge.hpp). It passes the calls of the core to the
 * host, and the reports of the host to the core. Only numbers cross the bridge; other values are packed one
 * after another in memory.
 */

import { TabacusError } from '../common/errors.js';
import { callHost } from './generated/host-calls.js';
import { hostEvents } from './generated/host-events.js';
import { decoded, nullSize, Unpacker } from './packed.js';
import { Promises } from './promises.js';
import { textDecoder, textEncoder } from './utf8.web.js';
import { version } from '../common/version.js';

/** @typedef {import('./generated/host-calls.js').Notice} Notice */

/** An object that is notified of the changes of a counter. @typedef {{ _changed(): void }} ChangeListener */

/**
 * Receives reports that concern the program as a whole.
 *
 * @typedef {object} Owner
 * @property {(notice: Notice) => void} notice
 * @property {(error: TabacusError) => void} fail the program has trapped; called once
 */

/**
 * The limits of one program (docs/guarantees.md). A call that exceeds a limit fails, and has no other effect.
 */
const textBytesMax = 2 ** 25;
const namesMax = 2 ** 17;

/** Up to this length, to copy ASCII is faster than to call the encoder. */
const copiedUnitsMax = 256;
const notCopied = /[^ -~]/;

/**
 * Matches the exports that bridge/exports.js describes. Exports for other pieces have other names
 * (scripts/lib/piece-text.js).
 */
const described = /^[a-z]+_/;

/**
 * The bridge of one program: its exports, the calls that are not answered, and the listeners of its counters.
 */
export class Bridge {
    #encoder = textEncoder();
    #decoder = textDecoder();

    promises = new Promises();

    /** The objects that stand for each counter, by its address. @type {Map<number, WeakRef<ChangeListener>[]>} */
    #counterListeners = new Map();

    /**
     * The counters and tabs that have listeners of the application. The bridge and the engine refer to others weakly,
     * so that those which the application drops without closing them can be collected.
     * @type {Set<object>}
     */
    kept = new Set();

    /** The addresses of counters, by the options with which they were made. @type {Map<string, number>} */
    #counters = new Map();

    /**
     * Undefined until coordination (load-coordination.js) is loaded.
     * @type {import('../host/lock-snapshots.js').LockSnapshots}
     */
    lockSnapshots = /** @type {any} */ (undefined);

    /**
     * Undefined until coordination is loaded.
     * @type {import('../host/value-channels.js').ValueChannels}
     */
    valueChannels = /** @type {any} */ (undefined);

    /**
     * The listeners of locks and queues. Undefined until coordination is loaded.
     *
     * @type {import('./coordination-listeners.js').CoordinationListeners}
     */
    listeners = /** @type {any} */ (undefined);

    /**
     * The exports of the pieces that are loaded.
     * @type {import('./program.js').Glue}
     */
    glue;

    /** The address of the C++ object of the tab's counters. */
    core = 0;

    /** The address of the C++ object of coordination; 0 until it is loaded. */
    coordination = 0;

    /**
     * Makes the calls of the program that js/core/generated/host-calls.js does not have: those of
     * coordination.
     *
     * @type {(bridge: Bridge, ...call: import('./program.js').HostCallArguments) => unknown}
     */
    callFurther = () => undefined;

    /**
     * Makes the calls that gatherers make (js/threads/tab-counter/page-cells.js). Undefined until there is one.
     *
     * @type {((...call: import('./program.js').HostCallArguments) => unknown) | undefined}
     */
    callCells;

    /** The names that the program keeps. @type {Set<string>} */
    #names = new Set();

    /** Why the program must not be called, if it has ended. @type {TabacusError | undefined} */
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
                // An exception must not pass through the frames of the program: it would unwind them as a
                // trap does, and leave its memory in an unknown state.
                host.reportError(error);
                result = 0;
            }
            // If the program has trapped within this call, its outer frames must not go on.
            if (this.#failure) throw this.#failure;
            return result;
        };
    }

    /** Passes a notice of the program to the owner. @param {Notice} notice */
    notice(notice) {
        this.owner.notice({ ...notice, code: notice.failure ?? notice.code });
    }

    /** Calls the listeners of a counter. @param {number} counter its address */
    counterChanged(counter) {
        for (const listener of this.#alive(counter)) listener.deref()?._changed();
    }

    /** Forgets the listeners of a counter that are collected, and returns the others. @param {number} counter */
    #alive(counter) {
        const alive = (this.#counterListeners.get(counter) ?? []).filter((one) => one.deref());
        this.#counterListeners.set(counter, alive);
        return alive;
    }

    /**
     * Returns a counter of the program. Callers that pass the same options share one.
     *
     * @param {string} asked the options, as text
     * @param {() => number} make makes the counter, and returns its address
     * @param {ChangeListener} listener called when the value may have changed, until it is collected
     * @returns {number} its address
     */
    counter(asked, make, listener) {
        let address = this.#counters.get(asked);
        if (address === undefined) {
            this.admit(`counter/${asked}`);
            address = make();
            this.#counters.set(asked, address);
        }
        this.#alive(address).push(new WeakRef(listener));
        return address;
    }

    /**
     * Counts the different names that are used, and refuses more than `namesMax`: the program keeps a record
     * of each name for as long as it runs, except those of `names`.
     *
     * @param {string} name
     * @param {Set<string>} [names] the names among which this one is counted
     * @throws {TabacusError} `out-of-memory`
     */
    admit(name, names = this.#names) {
        if (names.has(name)) return;
        if (names.size === namesMax) {
            throw new TabacusError('out-of-memory', `this tab uses ${namesMax} names, and can use no more`);
        }
        names.add(name);
    }

    /**
     * Ends the bridge: rejects all calls that are not answered. Later calls throw the same error.
     * @param {TabacusError} error
     */
    end(error) {
        this.#failure ??= error;
        this.promises.rejectAll(error);
    }

    /**
     * Adds the exports of a piece. Each is wrapped, so that a trap (WebAssembly Core §4.4) ends the program.
     * After a trap the program's memory cannot be relied on, so later calls are refused.
     *
     * @param {import('./program.js').Glue} exports
     */
    contain(exports) {
        /** @type {any} */
        const contained = this.glue;
        for (const [name, call] of Object.entries(exports)) {
            if (!described.test(name)) continue;
            // There are five parameters and no rest parameter, which would be slower: such a function may be
            // called a million times. WebAssembly ignores arguments that it does not take (WebAssembly
            // JavaScript Interface §5.6).
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
     * Ends the program after a trap, and returns the error to throw.
     *
     * @param {string} call the export that trapped
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
     * Makes the C++ object of the tab, and connects the host to it. It gets the reports that were made
     * before, too.
     * @param {string} namespace
     */
    start(namespace) {
        this.pack([namespace]);
        this.core = this.glue.tab_new();
        const events = hostEvents((event, number, values) => {
            try {
                this.#pack(values, Infinity); // records of the store may be of any length
                this.glue.tab_event(this.core, event, number);
            } catch (error) {
                if (error !== this.#failure) throw error; // the owner has received #failure
            }
        });
        this.host.connect({
            ...events,
            settled: (operation, answer) => this.#settle(events, operation, answer),
        });
    }

    /**
     * Reports the answer of an operation. If there is no memory for the answer, reports that the operation
     * has failed.
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
     * Packs values for the next call of the program, which unpacks them.
     *
     * @param {import('./packed.js').Packed[]} values
     * @throws {TabacusError} `out-of-memory`
     */
    pack(values) {
        this.#pack(values, textBytesMax);
    }

    /**
     * Packs values that take at most `bytesMax` bytes.
     *
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
        const { HEAPU8: heap, view } = this.glue; // read after tab_buffer(), which may have grown the memory
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
     * Reads a text from the program's memory.
     *
     * @param {number} at its address
     * @param {number} size in bytes
     */
    text(at, size) {
        return decoded(this.glue.HEAPU8, at, at + size, this.#decoder);
    }

    /**
     * Returns a reader of values that C++ has packed. Requires that they are read before C++ goes on.
     *
     * @param {number} at
     */
    unpack(at) {
        return new Unpacker(this.glue, at, this.#decoder);
    }
}
