/** The page's side of what threads request of its tab. tab_request.hpp describes the protocol. */

import { requestFields, tabHas, tabPurposes, tabReasons, tabTasks } from './tab-request-layout.js';
import { PageCounters } from '../tab-counter/page-counters.js';
import { watchExit } from '../exit/liveness-lock.js';
import { sleepAsync } from '../waiting.js';

/**
 * The page's state of a request.
 *
 * @typedef {object} PageRequest
 * @property {number} has one of tabHas
 * @property {AbortController} abort ends the wait for the lock
 * @property {import('../../lock/held.js').Held} [held] the lock, once it is granted
 */

/** @typedef {import('../../lock/lock-options.js').LockOptions} LockOptions */
/** @typedef {import('../../lock/held.js').Held} Held */

/**
 * The part of a tab that the broker uses.
 *
 * @typedef {object} LockSource
 * @property {(name: string, options: LockOptions) => Promise<Held | null>} _acquire
 */

/** The part of a tab that is used for locks and counters. @typedef {LockSource & import('../tab-counter/page-counters.js').CounterSource} TabSource */

/**
 * Acquires and releases locks over tabs, and commits and reads counters over tabs, on behalf of threads, which
 * write their requests into shared memory.
 */
export class Broker {
    #core;
    #ops;
    #tab;
    #livenessPrefix;
    #bell;
    #counters;

    /** @type {Map<number, PageRequest>} */
    #records = new Map();

    /** The threads that are watched for their exit. @type {Set<number>} */
    #watched = new Set();

    #closed = false;

    /**
     * @param {import('../thread-core.js').ThreadCore} core
     * @param {TabSource} tab
     * @param {string} livenessPrefix
     */
    constructor(core, tab, livenessPrefix) {
        this.#core = core;
        core.answers = true;
        this.#ops = core.ops;
        this.#tab = tab;
        this.#livenessPrefix = livenessPrefix;
        this.#counters = new PageCounters(core, tab);
        this.#bell = core.ops.request_bell(core.root) >> 2;
    }

    /** Answers requests until this thread's attachment is closed. */
    serve() {
        this.#core.ending.addEventListener('abort', () => this.#close());
        void this.#listen();
    }

    /** Ends the broker: held locks are lost, and waiting and later requests are refused. */
    #close() {
        this.#closed = true;
        this.#counters.close();
        this.#ops.request_end(this.#core.root);
        for (const request of this.#requests()) this.#dismiss(request);
    }

    /**
     * Processes all requests whenever the bell changes, which is a word that threads increment with each
     * request.
     */
    async #listen() {
        const { words, ending } = this.#core;
        while (!this.#closed) {
            const seen = Atomics.load(words, this.#bell);
            for (const request of this.#requests()) this.#process(request);
            this.#counters.gatherSoon();
            await sleepAsync(words, this.#bell, seen, Infinity, ending);
        }
    }

    /** Iterates over the addresses of all requests. */
    *#requests() {
        const { root } = this.#core;
        for (let request = 0; (request = this.#ops.request_next(root, request)) !== 0;) yield request;
    }

    /** Does what a request needs, as request_task() of C++ decides. @param {number} request */
    #process(request) {
        for (;;) {
            const has = this.#records.get(request)?.has ?? tabHas.nothing;
            const task = this.#ops.request_task(request, has);
            if (task === tabTasks.nothing) return;
            if (task === tabTasks.drop) this.#drop(request);
            else this.#begin(request, task === tabTasks.attempt);
        }
    }

    /**
     * Requests the lock from the tab, or has the counter committed or read.
     *
     * @param {number} request
     * @param {boolean} tries whether the request does not wait
     */
    #begin(request, tries) {
        const agent = this.#field(request, requestFields.agent);
        this.#watch(agent);
        const record = { has: tries ? tabHas.trying : tabHas.waiting, abort: new AbortController() };
        this.#records.set(request, record);
        if (this.#closed) {
            this.#refuse(request, record, 'closed');
            return;
        }
        const name = this.#nameOf(request);
        if (this.#field(request, requestFields.purpose) === tabPurposes.counter) {
            this.#counters.serve(name, tries).then(
                (value) => this.#answerCounter(request, record, value),
                (error) => this.#refuse(request, record, error.code),
            );
            return;
        }
        const options = tries ? { ifAvailable: true } : { signal: record.abort.signal };
        this.#tab._acquire(name, { ...options, label: `thread ${agent}` }).then(
            (held) => this.#answer(request, record, held),
            (error) => this.#refuse(request, record, error.code),
        );
    }

    /**
     * Passes the tab's answer on to the thread.
     *
     * @param {number} request
     * @param {PageRequest} record
     * @param {import('../../lock/held.js').Held | null} held
     */
    #answer(request, record, held) {
        if (this.#records.get(request) !== record) {
            held?.release(); // the thread has withdrawn its request
            return;
        }
        if (!held) {
            this.#refuse(request, record, '');
            return;
        }
        record.has = tabHas.holding;
        record.held = held;
        const lost = () => {
            if (this.#records.get(request) !== record) return;
            this.#ops.request_lose(request);
        };
        if (!this.#ops.request_grant(request, /** @type {number} */ (held.token))) this.#process(request);
        else if (held.held) held.signal.addEventListener('abort', lost);
        else lost();
    }

    /**
     * Passes the answer of a counter on to the thread.
     *
     * @param {number} request
     * @param {PageRequest} record
     * @param {number} value
     */
    #answerCounter(request, record, value) {
        if (this.#records.get(request) !== record) return;
        record.has = tabHas.holding;
        if (!this.#ops.request_grant(request, value)) this.#process(request);
    }

    /**
     * Refuses a request.
     *
     * @param {number} request
     * @param {PageRequest} record
     * @param {string} code the code of the tab's error; empty if the lock was not available
     */
    #refuse(request, record, code) {
        if (this.#records.get(request) !== record) return;
        this.#records.delete(request);
        this.#ops.request_refuse(request, reasonOf(code));
        this.#process(request);
    }

    /** Releases the lock of a request, or withdraws the request from the tab. @param {number} request */
    #drop(request) {
        const record = this.#records.get(request);
        this.#records.delete(request);
        record?.abort.abort();
        record?.held?.release();
    }

    /** Takes the lock from a request, or ends its wait. @param {number} request */
    #dismiss(request) {
        this.#drop(request);
        this.#ops.request_lose(request);
        this.#process(request);
    }

    /**
     * Watches for the exit of a thread, which frees its requests.
     *
     * @param {number} agent 0 for a thread that cannot be watched, or that exits only with the page
     */
    #watch(agent) {
        if (agent === 0 || this.#watched.has(agent)) return;
        this.#watched.add(agent);
        watchExit(this.#livenessPrefix, agent, () => {
            this.#watched.delete(agent);
            if (this.#closed) return; // C++ must not be called: the stack of this thread is given back
            for (const request of this.#requests()) {
                if (this.#field(request, requestFields.agent) !== agent) continue;
                this.#drop(request);
                this.#ops.request_exit(request, agent);
            }
        });
    }

    /** Reads the name of the lock that a request asks for. @param {number} request */
    #nameOf(request) {
        const at = (request + requestFields.name) >> 1;
        const units = this.#core.units.subarray(at, at + this.#field(request, requestFields.nameUnits));
        return String.fromCharCode(...units);
    }

    /**
     * Reads a field of a request.
     *
     * @param {number} request
     * @param {number} field
     */
    #field(request, field) {
        return Number(this.#core.words[(request + field) >> 2]);
    }
}

/** Returns the number of a reason. @param {string} code */
const reasonOf = (code) => {
    const reason = tabReasons.indexOf(/** @type {(typeof tabReasons)[number]} */ (code));
    return reason < 0 ? tabReasons.indexOf('unavailable') : reason;
};
