/**
 * One thread's access to an arena: an instance of attach.wasm, the thread's agent in the arena, and views of
 * the memory. The page and Workers use the same class.
 */

import { TabacusError } from '../common/errors.js';
import { agentFields, entryFields, kindNamed, kindNumbers } from './arena-layout.js';
import { maySleep } from './waiting.js';

/**
 * The exports of wasm/src/attach/attach_abi.hpp.
 *
 * @typedef {object} Ops
 * @property {(root: number) => number} agent_id
 * @property {(root: number, id: number, claim: number, maySleep: number) => number} agent_enter
 * @property {(root: number, agent: number, self: number) => void} agent_exited
 * @property {(root: number, dead: number, self: number) => void} agent_died
 * @property {(root: number, agent: number, kind: number, units: number) => number} object_open
 * @property {(kind: number, counter: number, agent: number, n: number) => number} counter_add
 * @property {(kind: number, counter: number, agent: number, n: number) => number} counter_bump
 * @property {(kind: number, counter: number) => number} counter_value
 * @property {(kind: number, counter: number, agent: number, n: bigint) => bigint} counter_add_exact
 * @property {(kind: number, counter: number) => bigint} counter_value_exact
 * @property {(mutex: number, self: number) => number} mutex_lock
 * @property {(mutex: number, self: number) => number} mutex_try_lock
 * @property {(mutex: number, self: number, slept: number) => number} mutex_step
 * @property {(mutex: number, owner: number) => number} mutex_unlock
 * @property {(mutex: number, owner: number) => number} mutex_mark_consistent
 * @property {(mutex: number) => void} mutex_enter_async
 * @property {(mutex: number) => void} mutex_leave_async
 * @property {(lock: number, self: number, mode: number, blocks: number) => number} rw_request
 * @property {(lock: number, self: number, record: number, giveUp: number) => number} rw_settle
 * @property {(lock: number, self: number, record: number) => number} rw_release
 * @property {(lock: number, self: number) => number} rw_mark_consistent
 * @property {(semaphore: number, permits: number) => number} semaphore_begin
 * @property {(semaphore: number, self: number, blocks: number) => number} semaphore_request
 * @property {(semaphore: number, self: number, record: number, giveUp: number) => number} semaphore_settle
 * @property {(semaphore: number, self: number, n: number) => number} semaphore_release
 * @property {(semaphore: number) => number} semaphore_available
 * @property {(barrier: number, parties: number) => number} barrier_begin
 * @property {(barrier: number, self: number) => number} barrier_arrive
 * @property {(barrier: number, self: number, record: number) => void} barrier_take_back
 * @property {(record: number) => number} barrier_leave
 * @property {(barrier: number) => number} barrier_phase
 * @property {(barrier: number, self: number) => number} barrier_join
 * @property {(barrier: number, self: number) => number} barrier_drop
 * @property {(condition: number) => number} condition_announce
 * @property {(condition: number, all: number) => void} condition_notify
 * @property {(condition: number, by: number) => void} condition_async
 * @property {(root: number, agent: number, units: number, watched: number) => number} request_open
 * @property {(root: number, request: number, how: number) => number} request_ask
 * @property {(root: number, request: number) => number} request_give_up
 * @property {(root: number, request: number) => number} request_release
 * @property {(root: number, request: number) => void} request_close
 * @property {(root: number) => number} request_bell
 * @property {(root: number) => void} request_end
 * @property {(root: number, before: number) => number} request_next
 * @property {(root: number, agent: number, units: number) => number} cells_open
 * @property {(cells: number) => number} cells_join
 * @property {(root: number, cells: number, index: number, n: number) => number} cells_add
 * @property {(cells: number) => number} cells_value
 * @property {(root: number, before: number) => number} cells_next
 * @property {(cells: number) => number} cells_gather
 * @property {(cells: number, n: number) => void} cells_take
 * @property {(cells: number, total: number) => void} cells_publish
 * @property {(request: number, has: number) => number} request_task
 * @property {(request: number, token: number) => number} request_grant
 * @property {(request: number, reason: number) => number} request_refuse
 * @property {(request: number) => number} request_lose
 * @property {(request: number, agent: number) => number} request_exit
 */

/** An instance of attach.wasm. @typedef {Ops & { __stack_pointer: { value: number }, arena_make: () => number }} AttachExports */

/** The result of object_open while another thread makes an object, in a thread that may not wait. */
const busy = -1;

/** The same result of request_open and cells_open. */
const tabBusy = 1;

const registryBusy = () =>
    new TabacusError(
        'would-block',
        'another thread holds the registry of names, and this one may not wait: try again',
    );

const arenaFull = () => new TabacusError('out-of-memory', 'the shared memory has no space for another name');

const closedError = () => new TabacusError('closed', 'this attachment to the shared memory is closed');

/**
 * Checks what request_open or cells_open has returned, and returns the address.
 *
 * @param {number} address
 * @throws {TabacusError} `would-block`, `out-of-memory`
 */
function opened(address) {
    if (address === tabBusy) throw registryBusy();
    if (address === 0) throw arenaFull();
    return address;
}

/** This thread's attachment to an arena. */
export class ThreadCore {
    closed = false;

    /** Whether the page learns when this thread exits. */
    watched = false;

    /** Releases the liveness lock of this thread, if it holds one. */
    releaseLivenessLock = () => {};

    /**
     * Whether this thread answers requests for locks over tabs. Such a thread must not wait for one by
     * blocking.
     */
    answers = false;

    /**
     * Keeps localStorage equal to the shared storage. Only a page with localStorage has it, once threads
     * share a storage.
     * @type {{ push: () => void } | undefined}
     */
    mirror;

    /** The controller that close() aborts. Every wait of this thread ends with it. */
    #ending = new AbortController();
    ending = this.#ending.signal;

    /**
     * @param {AttachExports} exports
     * @param {WebAssembly.Memory} memory
     * @param {number} root
     * @param {number} id of this thread: an agent_id()
     * @param {number} claim the number by which the page knows this thread
     */
    constructor(exports, memory, root, id, claim) {
        /** @type {Ops} */
        this.ops = exports;
        this.root = root;
        this.memory = memory;
        this.maySleep = maySleep();
        const buffer = /** @type {SharedArrayBuffer} */ (/** @type {unknown} */ (memory.buffer));
        this.words = new Int32Array(buffer);
        this.units = new Uint16Array(buffer);
        this.id = id;
        this.agent = exports.agent_enter(root, id, claim, this.maySleep ? 1 : 0);
        if (this.agent === 0) {
            throw new TabacusError(
                'out-of-memory',
                'the shared memory has no space for another thread: 254 may be attached at a time, and one that ' +
                    'exits without close() stays attached where the platform does not report its exit',
            );
        }
        // The stack is in the agent's block, and grows down from its end. Up to this line the stack pointer
        // is 0, so that any use of the stack traps. agent_enter() does not use it.
        exports.__stack_pointer.value = this.agent + agentFields.end;
    }

    /** Reads a word of the memory. @param {number} address */
    #word(address) {
        return /** @type {number} */ (this.words[address >> 2]);
    }

    /** Why this thread's last add that failed was not done: one of `outcomes`. */
    get outcome() {
        return this.#word(this.agent + agentFields.outcome);
    }

    /** @throws {TabacusError} `closed` */
    assertOpen() {
        if (this.closed) throw closedError();
    }

    /**
     * Finds the object of that name, and makes it if there is none. Returns its kind and its address.
     *
     * @param {string} name
     * @param {import('./arena-layout.js').CounterKind | import('./arena-layout.js').ObjectKind} kind the kind of an object that has to be
     *   made
     * @throws {TabacusError} `would-block`, `out-of-memory`, `closed`
     */
    open(name, kind) {
        this.assertOpen();
        this.#write(name);
        const entry = this.ops.object_open(this.root, this.agent, kindNumbers[kind], name.length);
        if (entry === busy) throw registryBusy();
        if (entry === 0) throw arenaFull();
        const address = this.root + entry;
        return {
            kind: kindNamed(this.#word(address + entryFields.kind)),
            at: this.root + this.#word(address + entryFields.object),
        };
    }

    /**
     * Makes a request of this thread for a lock over tabs.
     *
     * @param {string} name
     * @param {boolean} [watched] whether the page frees the request when this thread exits
     * @returns {number} its address
     * @throws {TabacusError} `would-block`, `out-of-memory`, `closed`
     */
    openRequest(name, watched = this.watched) {
        this.assertOpen();
        this.#write(name);
        return opened(this.ops.request_open(this.root, this.agent, name.length, watched ? 1 : 0));
    }

    /**
     * Finds the cells of the counter over tabs of that name, and makes them if there are none.
     *
     * @param {string} name
     * @returns {number} their address
     * @throws {TabacusError} `would-block`, `out-of-memory`, `closed`
     */
    openCells(name) {
        this.assertOpen();
        this.#write(name);
        return opened(this.ops.cells_open(this.root, this.agent, name.length));
    }

    /** Writes a name into the agent's block, from where C++ reads it. @param {string} name */
    #write(name) {
        const at = (this.agent + agentFields.name) >> 1;
        for (let i = 0; i < name.length; i++) this.units[at + i] = name.charCodeAt(i);
    }

    /**
     * Ends the attachment: frees the agent's block, and passes on what this thread holds, as its death would. The
     * objects of this thread must not be used after this.
     */
    close() {
        if (this.closed) return;
        this.closed = true;
        this.#ending.abort(closedError());
        this.ops.agent_died(this.root, this.id, this.id);
        // The page reports the end of this thread once more. The thread's own report must have ended.
        this.releaseLivenessLock();
        // The hot paths do not check whether the attachment is open. The functions that they call return "not
        // done" instead, and the error path then finds that it is closed.
        this.ops = {
            ...this.ops,
            counter_add: () => NaN,
            counter_bump: () => NaN,
            counter_value: () => NaN,
            cells_add: () => NaN,
            cells_value: () => NaN,
        };
    }
}
