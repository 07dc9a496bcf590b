/** The page's side of the locks over tabs that threads ask for: see tab_request.hpp. */

import { requestFields, tabHas, tabReasons, tabTasks } from './tab-request-layout.js';
import { watchExit } from '../exit/liveness-lock.js';
import { sleepAsync } from '../waiting.js';

/**
 * What the page has for a request.
 *
 * @typedef {object} Record
 * @property {number} has of tabHas
 * @property {AbortController} abort ends the wait
 * @property {import('../../lock/held.js').Held} [held]
 */

/** @typedef {import('../../lock/lock-options.js').LockOptions} LockOptions */
/** @typedef {import('../../lock/held.js').Held} Held */

/**
 * A tab, as far as its locks are needed.
 *
 * @typedef {object} LockSource
 * @property {(name: string, options: LockOptions) => Promise<Held | null>} _acquire
 */

export class Broker {
    #core;
    #ops;
    #tab;
    #livenessPrefix;
    #bell;

    /** @type {Map<number, Record>} */
    #records = new Map();

    /** Threads whose exit is watched for. @type {Set<number>} */
    #watched = new Set();

    #closed = false;

    /**
     * @param {import('../thread-core.js').ThreadCore} core
     * @param {LockSource} tab
     * @param {string} livenessPrefix
     */
    constructor(core, tab, livenessPrefix) {
        this.#core = core;
        core.answers = true;
        this.#ops = core.ops;
        this.#tab = tab;
        this.#livenessPrefix = livenessPrefix;
        this.#bell = core.ops.request_bell(core.root) >> 2;
    }

    /** Answers until this thread's attachment is closed. */
    serve() {
        this.#core.ending.addEventListener('abort', () => this.#close());
        void this.#listen();
    }

    /** What is held is lost; what waits is refused, and whatever is asked from now on. */
    #close() {
        this.#closed = true;
        this.#ops.request_end(this.#core.root);
        for (const request of this.#requests()) this.#dismiss(request);
    }

    async #listen() {
        const { words, ending } = this.#core;
        while (!this.#closed) {
            const rung = Atomics.load(words, this.#bell);
            for (const request of this.#requests()) this.#process(request);
            await sleepAsync(words, this.#bell, rung, Infinity, ending);
        }
    }

    *#requests() {
        const { root } = this.#core;
        for (let request = 0; (request = this.#ops.request_next(root, request)) !== 0;) yield request;
    }

    /** @param {number} request */
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
     * @param {number} request
     * @param {boolean} tries
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
        const options = tries ? { ifAvailable: true } : { signal: record.abort.signal };
        this.#tab._acquire(name, { ...options, label: `thread ${agent}` }).then(
            (held) => this.#answer(request, record, held),
            (error) => this.#refuse(request, record, error.code),
        );
    }

    /**
     * @param {number} request
     * @param {Record} record
     * @param {import('../../lock/held.js').Held | null} held
     */
    #answer(request, record, held) {
        if (this.#records.get(request) !== record) {
            held?.release(); // given up meanwhile
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
     * @param {number} request
     * @param {Record} record
     * @param {string} code
     */
    #refuse(request, record, code) {
        if (this.#records.get(request) !== record) return;
        this.#records.delete(request);
        this.#ops.request_refuse(request, reasonOf(code));
        this.#process(request);
    }

    /** @param {number} request */
    #drop(request) {
        const record = this.#records.get(request);
        this.#records.delete(request);
        record?.abort.abort();
        record?.held?.release();
    }

    /** @param {number} request */
    #dismiss(request) {
        this.#drop(request);
        this.#ops.request_lose(request);
        this.#process(request);
    }

    /** @param {number} agent 0 of a thread whose exit cannot be watched for, or that cannot exit alone */
    #watch(agent) {
        if (agent === 0 || this.#watched.has(agent)) return;
        this.#watched.add(agent);
        watchExit(this.#livenessPrefix, agent, () => {
            this.#watched.delete(agent);
            if (this.#closed) return; // this thread's stack is given back
            for (const request of this.#requests()) {
                if (this.#field(request, requestFields.agent) !== agent) continue;
                this.#drop(request);
                this.#ops.request_exit(request, agent);
            }
        });
    }

    /** @param {number} request */
    #nameOf(request) {
        const at = (request + requestFields.name) >> 1;
        const units = this.#core.units.subarray(at, at + this.#field(request, requestFields.nameUnits));
        return String.fromCharCode(...units);
    }

    /**
     * @param {number} request
     * @param {number} field
     */
    #field(request, field) {
        return Number(this.#core.words[(request + field) >> 2]);
    }
}

/** @param {string} code */
const reasonOf = (code) => {
    const reason = tabReasons.indexOf(/** @type {(typeof tabReasons)[number]} */ (code));
    return reason < 0 ? tabReasons.indexOf('unavailable') : reason;
};
