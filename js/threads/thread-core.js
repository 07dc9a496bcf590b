/**
 * One thread's access to an arena: attach.wasm, this thread's agent in the arena, and views of the memory. The page
 * and Workers have the same.
 */

import { TabacusError } from '../common/errors.js';
import { agentFields, entryFields, kindNamed, kindNumbers } from './arena-layout.js';
import { maySleep } from './waiting.js';

/**
 * The exports of wasm/src/attach/attach_abi.hpp.
 *
 * @typedef {object} Ops
 * @property {(root: number, maySleep: number) => number} agent_enter
 * @property {(root: number, agent: number) => number} agent_leave
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
 * @property {(mutex: number) => void} mutex_enter_async
 * @property {(mutex: number) => void} mutex_leave_async
 * @property {(root: number, agent: number, units: number, watched: number) => number} request_open
 * @property {(root: number, request: number, how: number) => number} request_ask
 * @property {(root: number, request: number) => number} request_give_up
 * @property {(root: number, request: number) => number} request_release
 * @property {(root: number, request: number) => void} request_close
 * @property {(root: number) => number} request_bell
 * @property {(root: number) => void} request_end
 * @property {(root: number, before: number) => number} request_next
 * @property {(request: number, has: number) => number} request_task
 * @property {(request: number, token: number) => number} request_grant
 * @property {(request: number, reason: number) => number} request_refuse
 * @property {(request: number) => number} request_lose
 * @property {(request: number, agent: number) => number} request_exit
 */

/** An instance of attach.wasm. @typedef {Ops & { __stack_pointer: { value: number }, arena_make: () => number }} AttachExports */

const busy = -1;

/** What request_open returns. */
const tabBusy = 1;

const registryBusy = () =>
    new TabacusError(
        'would-block',
        'another thread holds the registry of names, and this one may not wait: try again',
    );

const arenaFull = () => new TabacusError('out-of-memory', 'the shared memory has no space for another name');

const closedError = () => new TabacusError('closed', 'this attachment to the shared memory is closed');

export class ThreadCore {
    closed = false;

    /** Whether the page learns when this thread exits. */
    watched = false;

    /** Whether this thread answers requests for locks over tabs, and must not wait for itself. */
    answers = false;

    /** What keeps localStorage equal to the storage, on a page that has localStorage, once threads share one. @type {{ push: () => void } | undefined} */
    mirror;

    /** Aborted by close(), for whoever waits. */
    #ending = new AbortController();
    ending = this.#ending.signal;

    /**
     * @param {AttachExports} exports
     * @param {WebAssembly.Memory} memory
     * @param {number} root
     */
    constructor(exports, memory, root) {
        /** @type {Ops} */
        this.ops = exports;
        this.root = root;
        this.memory = memory;
        this.maySleep = maySleep();
        const buffer = /** @type {SharedArrayBuffer} */ (/** @type {unknown} */ (memory.buffer));
        this.words = new Int32Array(buffer);
        this.units = new Uint16Array(buffer);
        this.agent = exports.agent_enter(root, this.maySleep ? 1 : 0);
        if (this.agent === 0) {
            throw new TabacusError(
                'out-of-memory',
                'the shared memory has no space for another thread: 254 may be attached at a time, and one that ' +
                    'ends without close() stays attached',
            );
        }
        // The stack is in the agent's block, and grows down from its end. Until here the stack pointer was
        // 0, with which whatever touches the stack traps: entering the arena does not.
        exports.__stack_pointer.value = this.agent + agentFields.end;
        this.id = this.#word(this.agent + agentFields.id);
    }

    /** @param {number} address */
    #word(address) {
        return /** @type {number} */ (this.words[address >> 2]);
    }

    /** Outcome of this thread's last add that was not done. */
    get outcome() {
        return this.#word(this.agent + agentFields.outcome);
    }

    assertOpen() {
        if (this.closed) throw closedError();
    }

    /**
     * The object of that name, made if there is none.
     *
     * @param {string} name
     * @param {import('./arena-layout.js').CounterKind | 'mutex'} kind for one that has to be made
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
     * A request of this thread for a lock over tabs.
     *
     * @param {string} name
     * @param {boolean} [watched] whether the page shall free it when this thread exits
     * @returns {number} its address
     */
    openRequest(name, watched = this.watched) {
        this.assertOpen();
        this.#write(name);
        const request = this.ops.request_open(this.root, this.agent, name.length, watched ? 1 : 0);
        if (request === tabBusy) throw registryBusy();
        if (request === 0) throw arenaFull();
        return request;
    }

    /** @param {string} name */
    #write(name) {
        const at = (this.agent + agentFields.name) >> 1;
        for (let i = 0; i < name.length; i++) this.units[at + i] = name.charCodeAt(i);
    }

    /** Gives the agent's block back; nothing of this thread may be used afterwards. */
    close() {
        if (this.closed) return;
        this.closed = true;
        this.#ending.abort(closedError());
        this.ops.agent_leave(this.root, this.agent);
        // The hot paths do not check whether we are open: what they call returns "not done", and the
        // error path finds it closed.
        this.ops = {
            ...this.ops,
            counter_add: () => NaN,
            counter_bump: () => NaN,
            counter_value: () => NaN,
        };
    }
}
