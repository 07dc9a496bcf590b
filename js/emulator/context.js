/** A context: one global object of a tab, its window, a frame's or a worker's, and what it asked for. */

import { invalid, TabacusError } from '../errors.js';
import { Chance } from './chance.js';
import { Timers } from './clock.js';
import { QuotaExceededError } from './events.js';
import { LocksOf } from './locks.js';
import { runFunction, runScript } from './script.js';
import { makeGlobal } from './window.js';

/** @typedef {import('./origin.js').Origin} Origin */
/** @typedef {import('./tab.js').Tab} Tab */

/** A message on its way to its one target. @typedef {import('./post.js').Posted} Posted */

export class Context {
    alive = true;
    /** A frame that was taken out of its document, or a closed tab's. */
    detached = false;
    /** What its global object is called. */
    name = '';
    /** @type {Map<number, (data: unknown) => void>} */
    channels = new Map();

    /**
     * @param {Origin} origin
     * @param {Tab} tab
     * @param {{ kind: 'window' | 'worker', agent: number, session: number, url: string, parent?: Context }} options
     */
    constructor(origin, tab, { kind, agent, session, url, parent }) {
        this.origin = origin;
        this.rules = origin.rules;
        this.tab = tab;
        this.kind = kind;
        this.agent = agent;
        this.session = session;
        this.url = new URL(url);
        this.parent = parent;
        this.id = origin.rules.context(agent, session);
        this.born_ms = origin.clock.now();
        this.timeOrigin = origin.clock.wall();
        this.chance = new Chance(origin.seed, this.id);
        this.locks = new LocksOf(this);
        this.timers = new Timers(this);
        /** @type {any} */
        this.window = makeGlobal(this);
        origin.contexts.set(this.id, this);
    }

    /** Do its writes still count? */
    get active() {
        return this.alive && !this.detached;
    }

    /** HTML §7.3.3 */
    get fullyActive() {
        return this.active && !this.tab.cached;
    }

    now() {
        return this.origin.clock.now();
    }

    wall() {
        return this.origin.clock.wall();
    }

    /** @param {() => void} task @param {number} [kind] one of `source` in core.js @param {number} [peer] */
    queueTask(task, kind = 0, peer = 0) {
        this.origin.queueTask(this, task, kind, peer);
    }

    /** A task of this context's begins. */
    beginTask() {
        this.origin.current = this;
        this.origin.clock.beginTask();
        this.timers.beginTask();
    }

    /** Runs a callback; what it throws is reported as an uncaught error of the global object. @param {() => void} call */
    guard(call) {
        try {
            call();
        } catch (error) {
            this.report(error);
        }
    }

    /** HTML §8.1.4.3 @param {unknown} error */
    report(error) {
        const message = String(/** @type {any} */ (error)?.message ?? error);
        const event = Object.assign(new Event('error', { cancelable: true }), { error, message });
        if (this.window.dispatchEvent(event)) this.origin.uncaught(error);
    }

    /** @param {EventTarget} target @param {Event} event */
    fire(target, event) {
        this.guard(() => target.dispatchEvent(event));
    }

    /** HTML §2.7.3 @param {unknown} message @param {StructuredSerializeOptions} [options] */
    serialize(message, options) {
        return structuredClone(message, options);
    }

    /**
     * @param {EventTarget} target
     * @param {unknown} data
     * @param {{ source?: unknown }} [from]
     */
    fireMessage(target, data, { source = null } = {}) {
        this.#fireMessage(target, { data: structuredClone(data), ports: [] }, source);
    }

    /**
     * A message for one target, as {@link posted} made it: there is nothing more to clone.
     *
     * @param {EventTarget} target
     * @param {Posted} message
     * @param {unknown} [source]
     */
    firePosted(target, message, source = null) {
        this.#fireMessage(target, message, source);
    }

    /** @param {EventTarget} target @param {Posted} message @param {unknown} source */
    #fireMessage(target, { data, ports }, source) {
        const { origin } = this.url;
        const event = new MessageEvent('message', { data, origin, ports });
        if (source) Object.defineProperty(event, 'source', { value: source });
        this.fire(target, event);
    }

    quotaExceeded() {
        return new QuotaExceededError('the storage is full');
    }

    /**
     * Runs a script in the context, as {@link Tab}'s run() does in the tab's window.
     *
     * @param {string | Function} script
     * @param {...any} given the function's arguments
     * @returns {Promise<any>}
     * @throws {TabacusError} `invalid-argument`; `closed` where the context is gone
     */
    async run(script, ...given) {
        if (typeof script !== 'string' && typeof script !== 'function') throw invalid('script', script, 'a string or a function');
        if (!this.active) throw new TabacusError('closed', 'its tab, frame or worker is closed: nothing can run there');
        this.beginTask();
        if (typeof script === 'string') return runScript(this, script);
        if (script.length > 0 && given.length === 0) return script.call(this.window, this.window, this.tab);
        return runFunction(this, script, given);
    }

    /** @param {string} source */
    evaluate(source) {
        return runScript(this, source);
    }

    /** It is gone: its locks are released, its timers never fire. */
    close() {
        if (!this.alive) return;
        this.alive = false;
        this.timers.clearAll();
        this.channels.clear();
        this.rules.closeContext(this.id);
        this.origin.wake();
    }
}
