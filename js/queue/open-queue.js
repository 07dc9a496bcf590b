/** A queue once the core is there. */

import { closedError, invalid, TabacusError } from '../common/errors.js';
import {
    queueCancel,
    queueClear,
    queueCount,
    queueDiscard,
    queueEnqueue,
    queueFinish,
    queueHandle,
    queueHandleAll,
    queueIdle,
    queueLeave,
    queueList,
    queueOpen,
    queuePause,
    queueProgress,
    queueResume,
    queueRetry,
    queueStop,
} from '../core/generated/queues.js';
import { reportTo } from '../host/failure.js';
import { checkKey } from '../lock/store-arguments.js';
import { checkInteger, checkOptions } from '../common/check-arguments.js';
import { checkKind } from './queue-options.js';
import { errorFrom, errorText, packed, unpacked } from './payloads.js';
import { jobFrom } from './job.js';

/** @typedef {import('./job.js').Job} Job */
/** @typedef {import('./job.js').QueueState} QueueState */

/**
 * @typedef {object} EnqueueOptions
 * @property {string} [key] one job per key: one that waits takes what is newer and moves to the front, one that
 *   runs stays as it is. Up to 1024 UTF-16 units
 * @property {number | boolean} [priority] larger ones first: an integer from -1000 to 1000; true is 1. 0 by
 *   default
 * @property {boolean} [optional] it is tried once, and its failure harms nothing
 * @property {number} [delay] milliseconds before it may run
 * @property {string} [kind] which handlers take it
 * @property {'at-least-once' | 'at-most-once'} [delivery] the queue's by default
 */

/**
 * @typedef {object} Receipt
 * @property {string} id
 * @property {string | undefined} key
 * @property {boolean} joined the job was in the queue already, under its key
 * @property {Promise<any>} result made for who reads it; settles here with what the handler returned, or, when
 *   it is given up, with its error; wherever it ran. With an AbortError when it was cancelled. A promise that is
 *   not used may reject
 */

/**
 * What a handler is given.
 *
 * @typedef {object} Work
 * @property {any} payload
 * @property {string} id the same at every attempt
 * @property {string | undefined} key
 * @property {string} kind
 * @property {number} attempt from 1
 * @property {number} lostWorkers how many tabs were lost that had claimed it, but for those that exited cleanly
 * @property {AbortSignal} signal aborts when the claim on the job is lost: its tab is frozen or hidden for good,
 *   or the job was cancelled. Nothing of what the handler gives is kept then
 * @property {(fraction: number, note?: string) => void} progress notifies all tabs
 * @property {(payload?: unknown, options?: EnqueueOptions) => void} next enqueues what follows, with the
 *   settlement of this job: both or neither
 */

/** A job as the core takes it. @typedef {import('../core/generated/queues.js').JobSpec} Spec */
/** A job as the core gives it. @typedef {import('../core/generated/coordination-calls.js').JobInfo} JobInfo */

/** @typedef {(work: Work) => unknown} Handler its result, or what it throws, goes to who enqueued the job */

/** What a slot has claimed at once. @typedef {{ slot?: string, current?: string }} Claim */

const delayMsMax = 2 ** 31 - 1;

/** @param {unknown} key */
function checkJobKey(key) {
    if (key === '') throw invalid('key', key, 'a string of at least one UTF-16 unit');
    return checkKey('key', key);
}

/** How many fields of an event are of one job. @type {Partial<Record<QueueState['type'], number>>} */
const fieldsOf = { queued: 3, running: 4, progress: 3, done: 3, failed: 5, returned: 3, cancelled: 3 };

/** @typedef {{ value: unknown } | { failure: unknown }} Outcome */

/** What becomes of a job. Its promise is made for who asks for it: of many jobs that wait, most have nobody who does. */
class Ending {
    /** @type {Outcome | undefined} */
    #outcome;

    /** @type {Promise<any> | undefined} */
    #promise;

    /** @type {((outcome: Outcome) => void) | undefined} */
    #deliver;

    get promise() {
        if (!this.#promise) {
            this.#promise = new Promise((resolve, reject) => {
                this.#deliver = (outcome) =>
                    'value' in outcome ? resolve(outcome.value) : reject(outcome.failure);
            });
            this.#promise.catch(() => {}); // a caller may never use it
            if (this.#outcome) this.#deliver?.(this.#outcome);
        }
        return this.#promise;
    }

    /** @param {Outcome} outcome */
    settle(outcome) {
        this.#outcome = outcome;
        this.#deliver?.(outcome);
    }
}

/** The loss of the claim on a job. Its signal is made for who asks for it: most handlers do not. */
class Loss {
    /** @type {AbortController | undefined} */
    #controller;

    /** @type {Error | undefined} */
    reason;

    get signal() {
        if (!this.#controller) {
            this.#controller = new AbortController();
            if (this.reason) this.#controller.abort(this.reason);
        }
        return this.#controller.signal;
    }

    /** @param {Error} reason */
    set(reason) {
        this.reason ??= reason;
        this.#controller?.abort(reason);
    }
}

export class OpenQueue {
    #bridge;
    #host;
    #platform;
    #number;
    #name;
    #delivery;
    #concurrency;

    /** Jobs in the queue, as last learnt. */
    size = 0;

    /** @type {{ kinds: string[] | undefined, handler: Handler }[]} */
    #handlers = [];

    /** @type {Map<number, Loss>} */
    #runs = new Map();

    /** What settles the promises of the jobs that this tab has asked for, by the job. @type {Map<string, Ending>} */
    #waiting = new Map();

    /** Values that a finished job has given, until it is settled. @type {Map<string, string[]>} */
    #given = new Map();

    /** @type {Set<(state: QueueState) => void>} */
    #listeners = new Set();

    /**
     * Jobs that are claimed, and with which others. The jobs of one claim run one after another: `current` is the
     * one that runs, and `announced` are those whose `running` event was emitted.
     * @type {Map<string, { job: import('./job.js').RunningJob, claim: Claim, announced?: boolean }>}
     */
    #claimed = new Map();

    /** What is on its way to the store. @type {Set<Promise<unknown>>} */
    #writes = new Set();
    #ended = false;

    #done = 0;
    #failed = 0;
    #paused = false;

    /**
     * @param {import('../core/bridge.js').Bridge} bridge
     * @param {import('../host/host.js').Platform} platform
     * @param {string} name
     * @param {import('../core/generated/queues.js').QueueOptions & { delivery: 'at-least-once' | 'at-most-once' }} options
     */
    constructor(bridge, platform, name, options) {
        this.#bridge = bridge;
        this.#host = bridge.host;
        this.#platform = platform;
        this.#name = name;
        this.#delivery = options.delivery;
        this.#concurrency = options.concurrency;
        bridge.admit(`queue/${name}`);
        this.#number = queueOpen(bridge, name, options);
        bridge.listeners.queues.set(this.#number, {
            begin: (run, job) => this.#begin(run, job),
            lose: (run, reason) => this.#lose(run, reason),
            settle: (jobs) => this.#settled(jobs),
            receive: (event) => this.#receive(event),
        });
        void this.#refresh().catch(() => {}); // the next event reports it
    }

    /**
     * A page that comes back from the back/forward cache has received no event meanwhile.
     * @internal
     */
    _returned() {
        const former = [...this.#claimed.keys()];
        this.#refresh(former).then(
            () => this.#emit({ type: 'state' }),
            () => {}, // the tab was closed
        );
    }

    /**
     * @param {unknown} payload
     * @param {unknown} given
     * @returns {Promise<Receipt>}
     */
    async enqueue(payload, given) {
        const job = this.#spec(payload, given);
        try {
            const { id, joined, count } = await this.#write(() =>
                queueEnqueue(this.#bridge, this.#number, job),
            );
            this.size = Math.max(this.size, count);
            const ending = this.#ending(id);
            return {
                id,
                key: job.key || undefined,
                joined,
                get result() {
                    return ending.promise;
                },
            };
        } finally {
            if (job.payload.byValue) this.#host.values.take(job.payload.text);
        }
    }

    /**
     * @param {Handler} handler
     * @param {string[] | undefined} kinds that no other handler has; undefined: all
     */
    handle(handler, kinds) {
        const own = { kinds, handler };
        this.#handlers.push(own);
        this.#takePart();
        return () => {
            const index = this.#handlers.indexOf(own);
            if (index < 0) return;
            this.#handlers.splice(index, 1);
            this.#takePart();
        };
    }

    /** @param {string} key */
    async cancel(key) {
        return this.#write(() => queueCancel(this.#bridge, this.#number, checkJobKey(key)));
    }

    pause() {
        return this.#write(() => queuePause(this.#bridge, this.#number));
    }

    resume() {
        return this.#write(() => queueResume(this.#bridge, this.#number));
    }

    clear() {
        return this.#write(() => queueClear(this.#bridge, this.#number));
    }

    idle() {
        return queueIdle(this.#bridge, this.#number);
    }

    /** @returns {Promise<Job[]>} */
    jobs() {
        return this.#list('jobs');
    }

    /** @returns {Promise<import('./job.js').DeadLetter[]>} */
    async deadLetters() {
        const queue = this.#number;
        return (await this.#list('deadLetters')).map((job) => ({
            ...job,
            retry: () => this.#write(() => queueRetry(this.#bridge, queue, job.id)),
            discard: () => this.#write(() => queueDiscard(this.#bridge, queue, job.id)),
        }));
    }

    /** @param {(state: QueueState) => void} listener */
    subscribe(listener) {
        /** Events before the first state is known: they are emitted after it. @type {QueueState[] | undefined} */
        let early = [];
        // Each subscription has a function of its own, since one listener may subscribe twice.
        const own = (/** @type {QueueState} */ state) => (early ? void early.push(state) : listener(state));
        this.#refresh().then(
            () => {
                const states = [{ ...this.#state(), type: /** @type {const} */ ('state') }, ...(early ?? [])];
                early = undefined;
                for (const state of states) if (this.#listeners.has(own)) this.#emitTo(own, state);
            },
            () => {}, // the tab was closed
        );
        this.#listeners.add(own);
        return () => void this.#listeners.delete(own);
    }

    /**
     * Begins no job any more, and leaves those that run.
     *
     * @returns {Promise<unknown>} when what was asked of the queue before is done, what had ended is settled, and
     *   all else is given back
     * @internal
     */
    _end() {
        this.#ended = true;
        return Promise.allSettled([...this.#writes, queueLeave(this.#bridge, this.#number)]);
    }

    /**
     * Nothing reaches the core from here on.
     *
     * @param {TabacusError} error what becomes of jobs that are waited for
     * @internal
     */
    _close(error) {
        this.#ended = true;
        this.#handlers = [];
        this.#listeners.clear();
        for (const loss of this.#runs.values()) loss.set(error);
        this.#runs.clear();
        for (const ending of this.#waiting.values()) ending.settle({ failure: error });
        this.#waiting.clear();
    }

    /**
     * @template T
     * @param {() => Promise<T>} start
     * @returns {Promise<T>}
     */
    async #write(start) {
        if (this.#ended) throw closedError();
        const write = start();
        this.#writes.add(write);
        try {
            return await write;
        } finally {
            this.#writes.delete(write);
        }
    }

    /**
     * @param {unknown} payload
     * @param {unknown} given
     * @returns {Spec}
     */
    #spec(payload, given = {}) {
        const options = checkOptions(given, ['key', 'priority', 'optional', 'delay', 'kind', 'delivery']);
        const key = options.key === undefined ? '' : checkJobKey(options.key);
        const { priority = 0, optional = false, delay = 0, kind = '' } = options;
        const level =
            typeof priority === 'boolean'
                ? Number(priority)
                : checkInteger('priority', priority, -1000, 1000);
        if (typeof optional !== 'boolean') throw invalid('optional', optional, 'true or false');
        if (typeof delay !== 'number' || !(delay >= 0 && delay <= delayMsMax)) {
            throw invalid('delay', delay, `a number of milliseconds from 0 to ${delayMsMax}`);
        }
        const { delivery = this.#delivery } = options;
        if (delivery !== 'at-least-once' && delivery !== 'at-most-once')
            throw invalid('delivery', delivery, 'at-least-once or at-most-once');
        return {
            key,
            kind: checkKind(kind),
            priority: level,
            optional,
            atMostOnce: delivery === 'at-most-once',
            delay_ms: delay,
            payload: packed('payload', payload, this.#host.values), // last: what is refused keeps nothing
        };
    }

    /** @param {string} id */
    #ending(id) {
        const ending = this.#waiting.get(id) ?? new Ending();
        this.#waiting.set(id, ending);
        return ending;
    }

    #takePart() {
        if (this.#handlers.length === 0) return queueStop(this.#bridge, this.#number);
        if (this.#handlers.some(({ kinds }) => !kinds)) return queueHandleAll(this.#bridge, this.#number);
        const kinds = this.#handlers.flatMap(({ kinds: own }) => own ?? []);
        return queueHandle(this.#bridge, this.#number, kinds);
    }

    /** @param {import('../core/generated/enums/job-list.js').JobListName} which @returns {Promise<Job[]>} */
    async #list(which) {
        return (await queueList(this.#bridge, this.#number, which)).map((info) => {
            const job = jobFrom(info);
            try {
                job.payload = unpacked(info.payload, this.#host.values);
            } catch {
                // Another script's. A worker that runs it fails.
            }
            return job;
        });
    }

    // --- Running

    /**
     * Not from within the core: a handler may call it.
     *
     * @param {number} run
     * @param {JobInfo} job
     */
    #begin(run, job) {
        const loss = new Loss();
        this.#runs.set(run, loss);
        void Promise.resolve().then(() => this.#work(run, job, loss));
    }

    /**
     * @param {number} run
     * @param {JobInfo} job
     * @param {Loss} loss
     */
    async #work(run, job, loss) {
        const { values } = this.#host;
        const { id } = job;
        /** @type {{ following: Spec[], ended: boolean }} */
        const asked = { following: [], ended: false };
        /** @type {import('./payloads.js').QueueValue} */
        let outcome;
        let succeeded = true;
        try {
            outcome = packed('result', await this.#handle(run, job, loss, asked), values);
        } catch (error) {
            succeeded = false;
            outcome = { text: errorText(error), byValue: false };
        }
        asked.ended = true;
        if (!this.#runs.delete(run)) return;
        const { following } = asked;
        const kept = [...following.map(({ payload }) => payload), outcome].flatMap(({ text, byValue }) =>
            byValue ? [text] : [],
        );
        if (kept.length > 0) this.#given.set(id, [...(this.#given.get(id) ?? []), ...kept]);
        queueFinish(this.#bridge, this.#number, run, succeeded, outcome, succeeded ? following : []);
    }

    /**
     * Calls the handler of the job's kind.
     *
     * @param {number} run
     * @param {JobInfo} job
     * @param {Loss} loss
     * @param {{ following: Spec[], ended: boolean }} asked collects what the handler gives to next()
     * @returns {Promise<unknown>} what the handler returns
     */
    async #handle(run, { id, key, kind, attempts, lostWorkers, payload: given }, loss, asked) {
        const payload = unpacked(given, this.#host.values); // which may be another script's
        if (loss.reason) throw loss.reason;
        const handler = this.#handlers.find(({ kinds }) => !kinds || kinds.includes(kind))?.handler;
        if (!handler) throw new TabacusError('unavailable', 'the handler was removed');
        const progress = (/** @type {number} */ fraction, note = '') => this.#progress(run, fraction, note);
        const next = (/** @type {unknown} */ what, /** @type {unknown} */ options) => {
            if (asked.ended)
                throw new TabacusError('closed', 'the job has ended: await what calls next(), or enqueue()');
            asked.following.push(this.#spec(what, options));
        };
        return handler({
            ...{ payload, id, key: key || undefined, kind, lostWorkers, progress, next },
            attempt: attempts + 1,
            get signal() {
                return loss.signal;
            },
        });
    }

    /**
     * @param {number} run
     * @param {number} fraction
     * @param {string} note
     */
    #progress(run, fraction, note) {
        if (typeof fraction !== 'number' || !(fraction >= 0 && fraction <= 1)) {
            throw invalid('fraction', fraction, 'a number from 0 to 1');
        }
        // U+0000 ends a text in tabs of version 0.1.0.
        const text = String(note).replaceAll('\0', '');
        if (this.#runs.has(run)) queueProgress(this.#bridge, this.#number, run, fraction, text);
    }

    /**
     * @param {number} run
     * @param {string} reason
     */
    #lose(run, reason) {
        const loss = this.#runs.get(run);
        if (reason !== 'cancelled') this.#runs.delete(run); // a cancelled one ends first
        const why =
            reason === 'cancelled'
                ? new DOMException('the job was cancelled', 'AbortError')
                : new TabacusError('lock-lost', `the claim on a job of ${this.#name} was lost: ${reason}`);
        // Not from within the core: a listener may call it.
        void Promise.resolve().then(() => loss?.set(why));
    }

    /** @param {import('../core/generated/coordination-calls.js').EndedJob[]} jobs */
    #settled(jobs) {
        for (const { id, end, value } of jobs) {
            const ending = this.#waiting.get(id);
            this.#waiting.delete(id);
            const claim = this.#claimed.get(id)?.claim;
            if (claim?.current === id) claim.current = undefined;
            ending?.settle(this.#outcome(end, value));
        }
    }

    /**
     * @param {'done' | 'failed' | 'cancelled'} end
     * @param {import('./payloads.js').QueueValue} value
     * @returns {Outcome}
     */
    #outcome(end, value) {
        if (end === 'cancelled') return { failure: new DOMException('the job was cancelled', 'AbortError') };
        if (end === 'failed') return { failure: errorFrom(value.text) };
        try {
            return { value: unpacked(value, this.#host.values) };
        } catch {
            return { failure: new TabacusError('store-failed', 'the result cannot be read') };
        }
    }

    // --- Events

    /** @param {string[]} [former] jobs that ran as last learnt */
    async #refresh(former = []) {
        const counted = queueCount(this.#bridge, this.#number).then(({ count, paused }) => {
            this.size = count;
            this.#paused = paused;
        });
        const [running] = await Promise.all([this.#list('running'), counted]);
        for (const ended of former.filter((one) => !running.some(({ id }) => id === one)))
            this.#claimed.delete(ended);
        for (const { id, key, kind, tab = '', attempt } of running) {
            const known = this.#claimed.get(id);
            const job = { id, key, kind, tab, attempt, fraction: undefined, note: undefined };
            const entry = known ?? { job, claim: this.#concurrency > 1 ? {} : { slot: '0' } };
            entry.claim.current = id;
            entry.announced = true;
            this.#claimed.set(id, entry);
        }
    }

    /** @returns {Omit<QueueState, 'type'>} */
    #state() {
        const running = [];
        for (const [id, { job, claim }] of this.#claimed) if (claim.current === id) running.push(job);
        const queued = Math.max(this.size - running.length, 0);
        return {
            size: this.size,
            queued,
            running,
            done: this.#done,
            failed: this.#failed,
            paused: this.#paused,
        };
    }

    /** @param {import('../core/generated/coordination-calls.js').QueueEvent} event */
    #receive({ kind: type, tab, count, fields }) {
        if (this.size === 0 && type === 'queued') this.#claimed.clear(); // events of them were lost
        this.size = count;
        if (type === 'paused') this.#paused = true;
        if (type === 'resumed') this.#paused = false;
        const step = fieldsOf[type] ?? 0;
        if (step === 0 || fields.length === 0) {
            if (type === 'cancelled') this.#claimed.clear();
            this.#emit({ type, tab });
            return;
        }
        const claim = type === 'running' ? this.#claim(fields[fields.length - 1], fields[0]) : {};
        for (let at = 0; at + step <= fields.length; at += step) {
            const about = fields.slice(at, at + step);
            if (type === 'running') this.#keep(tab, about, claim);
            else if (type === 'returned' && this.#isAhead(about[0])) this.#forget(String(about[0]));
            else this.#emit({ type, tab, ...this.#about(type, about) });
        }
        if (type === 'running') this.#run(fields[0]);
    }

    /**
     * What the slot had claimed before has ended, whether this tab has received the events or not.
     *
     * @param {string | undefined} slot
     * @param {string | undefined} first
     * @returns {Claim}
     */
    #claim(slot, first) {
        for (const [id, { claim }] of this.#claimed)
            if (claim.slot === slot && id !== first) this.#claimed.delete(id);
        return { slot };
    }

    /**
     * @param {string} tab
     * @param {string[]} fields
     * @param {Claim} claim
     */
    #keep(tab, [id = '', key, kind = '', attempt], claim) {
        const job = {
            id,
            key: key || undefined,
            kind,
            tab,
            attempt: Number(attempt),
            fraction: undefined,
            note: undefined,
        };
        const known = this.#claimed.get(id);
        const same =
            known?.announced &&
            known.claim.slot === claim.slot &&
            known.job.tab === tab &&
            known.job.attempt === job.attempt;
        if (same) claim.current = id;
        this.#claimed.set(id, same ? { ...known, claim } : { job, claim });
    }

    /** Emits `running` of a job that was claimed ahead, once this tab learns that it runs. @param {string} [id] */
    #run(id = '') {
        const entry = this.#claimed.get(id);
        if (!entry || entry.announced) return;
        entry.announced = true;
        entry.claim.current = id;
        const { key, kind, tab, attempt } = entry.job;
        this.#emit({ type: 'running', id, key, kind, tab, attempt });
    }

    /** Whether the job was claimed, and no `running` event of it was emitted. @param {string} [id] */
    #isAhead(id = '') {
        const entry = this.#claimed.get(id);
        return entry !== undefined && !entry.announced;
    }

    /** It is not claimed any more; what it has given was settled, or counts for nothing. @param {string} id */
    #forget(id) {
        this.#claimed.delete(id);
        for (const number of this.#given.get(id) ?? []) this.#host.values.take(number);
        this.#given.delete(id);
    }

    /**
     * The state that an event reports of one job.
     *
     * @param {QueueState['type']} type
     * @param {string[]} fields
     * @returns {Partial<QueueState>}
     */
    #about(type, [id = '', second = '', third = '', error = '', fate = '']) {
        if (type === 'progress' || type === 'done' || type === 'failed') this.#run(id);
        switch (type) {
            case 'queued':
                return { id, key: second || undefined, kind: third };
            case 'progress': {
                const news = { fraction: Number(second) / 1e6, note: third || undefined };
                const { job } = this.#claimed.get(id) ?? {};
                if (job) Object.assign(job, news);
                return { id, key: job?.key, kind: job?.kind, ...news };
            }
            default: {
                this.#forget(id);
                if (type === 'done') ++this.#done;
                if (type === 'failed') ++this.#failed;
                const failure = type === 'failed' ? { error: errorFrom(error), final: fate !== 'again' } : {};
                return { id, key: second || undefined, kind: third, ...failure };
            }
        }
    }

    /** @param {Pick<QueueState, 'type'> & Partial<QueueState>} what */
    #emit(what) {
        if (this.#listeners.size === 0) return;
        const state = { ...this.#state(), ...what };
        for (const listener of this.#listeners) this.#emitTo(listener, state);
    }

    /**
     * Not from within the core: a listener may call it.
     *
     * @param {(state: QueueState) => void} listener
     * @param {QueueState} state
     */
    #emitTo(listener, state) {
        void Promise.resolve().then(() => {
            if (!this.#listeners.has(listener)) return;
            try {
                listener(state);
            } catch (error) {
                reportTo(this.#platform, error);
            }
        });
    }
}
