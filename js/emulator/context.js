/** A context: one global object of a tab, its window, a frame's or a worker's, and what it asked for. */

import { invalid, TabacusError } from '../common/errors.js';
import { SeededRandom } from './common/seeded-random.js';
import { Timers } from './global/clock.js';
import { QuotaExceededError, trusted } from '../platform/events.js';
import { ContextLocks } from './global/context-locks.js';
import { Port } from './messages/port.js';
import { cloned } from './messages/post-message.js';
import { describe } from './common/describe.js';
import { runFunction, runScript } from './scripts/run-script.js';
import { checkOptions } from '../common/check-arguments.js';
import { dispatched } from './dom/event-target.js';
import { makeGlobal, originalOf } from './global/global-object.js';
import { openWorker } from './worker.js';

/** @typedef {import('./origin.js').Origin} Origin */
/** @typedef {import('./emulated-tab.js').Tab} Tab */

/** A message on its way to its one target. @typedef {import('./messages/post-message.js').Posted} Posted */

/** What an ErrorEvent reports of an uncaught error. @typedef {{ message: string, filename: string, error: unknown }} Uncaught */

export class Context {
    alive = true;
    /** A frame that was taken out of its document, or a closed tab's. */
    detached = false;
    /** What its global object is called. */
    name = '';
    /** The element that a frame is shown in. @type {object | null} */
    element = null;
    #reporting = false;
    /** The one that a listener of the window's is called with. @type {Event | undefined} */
    event;
    /** What was made for its global object, by name. @type {Map<string, unknown>} */
    made = new Map();
    /** Tasks that wait, by the rules' numbers of them. @type {Map<number, () => void>} */
    tasks = new Map();
    /** @type {Map<number, (data: unknown) => void>} */
    channels = new Map();
    /** What scripts declared by let, const and class, and how it is reached (ECMAScript §9.1.1.4). @type {Map<string, import('./scripts/run-script.js').Access>} */
    lexical = new Map();

    /**
     * @param {Origin} origin
     * @param {Tab} tab
     * @param {{ kind: 'window' | 'worker', agent: number, session: number, url: string, parent?: Context, owner?: Context, sandboxed?: boolean }} options
     *   `parent`: of a frame; `owner`: of a worker; `sandboxed`: it is none of its parent's origin
     */
    constructor(origin, tab, { kind, agent, session, url, parent, owner, sandboxed = false }) {
        this.origin = origin;
        this.rules = origin.rules;
        this.tab = tab;
        this.kind = kind;
        this.agent = agent;
        this.session = session;
        /** The base of relative URLs; the context has its origin. */
        this.url = new URL(url);
        /** Its document's, or its script's: about:blank and such have their opener's origin (HTML §7.3.2.1). */
        this.address = this.url;
        this.parent = parent;
        this.owner = owner;
        this.id = origin.rules.calls.openContext(agent, session);
        /** HTML §7.1.1: of an opaque origin, which the contexts of one number share; undefined: the origin's own. */
        this.opaque = sandboxed || parent?.opaque !== undefined ? this.id : owner?.opaque;
        this.born_ms = origin.clock.now();
        this.timeOrigin = origin.clock.wall();
        this.random = new SeededRandom(origin.seed, this.id);
        this.locks = new ContextLocks(this);
        this.timers = new Timers(this);
        /** @type {any} */
        this.window = makeGlobal(this);
        origin.contexts.set(this.id, this);
    }

    /**
     * An interface or an object of its global object, which a page's own of that name does not change.
     *
     * @param {string} name
     * @returns {any}
     */
    original(name) {
        return originalOf(this, name);
    }

    /** Do its writes still count? */
    get active() {
        return this.alive && !this.detached;
    }

    /** HTML §7.1.1, serialized. */
    get originText() {
        return this.opaque === undefined ? this.url.origin : 'null';
    }

    /** Storage §4.4: an opaque origin has no storage. @param {string} what */
    checkStorable(what) {
        if (this.opaque !== undefined)
            throw new DOMException(`${what}: the origin is opaque`, 'SecurityError');
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

    /** @param {() => void} task @param {import('./emulator.js').TaskSource} [source] @param {number} [peer] */
    queueTask(task, source = 'script', peer = 0) {
        this.origin.queueTask(this, task, source, peer);
    }

    /** A task of this context's begins. */
    beginTask() {
        this.origin.current = this;
        this.origin.clock.beginTask();
        this.timers.beginTask();
    }

    /** As {@link guard}, of a script of this context's that another's task calls. @param {() => unknown} call */
    invoke(call) {
        const { origin } = this;
        const { current } = origin;
        origin.current = this;
        try {
            return call();
        } catch (error) {
            return this.report(error);
        } finally {
            origin.current = current;
        }
    }

    /** DOM §2.10, "inner invoke": while a listener is called, its event is its window's current one. @param {Event} event @param {() => unknown} call */
    callListener(event, call) {
        const outer = this.event;
        this.event = event;
        try {
            return this.invoke(call);
        } finally {
            this.event = outer;
        }
    }

    /** Runs a callback; what it throws is reported as an uncaught error of the global object. @param {() => void} call */
    guard(call) {
        try {
            call();
        } catch (error) {
            this.report(error);
        }
    }

    /** HTML §8.1.4.3: it does not throw. @param {unknown} error */
    report(error) {
        const uncaught = { message: `Uncaught ${describe(error)}`, filename: this.address.href, error };
        // An error while an error is reported is nobody's to handle.
        if (this.#reporting) return this.unhandled(uncaught);
        this.#reporting = true;
        try {
            const event = trusted(this.original('ErrorEvent'), 'error', { ...uncaught, cancelable: true });
            if (dispatched(this.window, event)) this.unhandled(uncaught);
        } finally {
            this.#reporting = false;
        }
    }

    /** What nobody caught and nobody handled; a worker's is its owner's. @param {Uncaught} uncaught */
    unhandled = ({ error }) => this.origin.uncaught(error);

    /** @param {EventTarget} target @param {Event} event */
    fire(target, event) {
        this.guard(() => dispatched(target, event));
    }

    /** HTML §2.7.3 @param {unknown} message */
    serialize(message) {
        return cloned(message);
    }

    /** What was transferred is here. @template {Posted} P @param {P} posted @returns {P} */
    received(posted) {
        for (const port of posted.ports) if (port instanceof Port) Port.arrive(port, this);
        return posted;
    }

    /** A message for many: each has a copy of its own. @param {EventTarget} target @param {unknown} data */
    fireMessage(target, data) {
        this.firePosted(target, { data: cloned(data), ports: [] }, { origin: this.originText });
    }

    /**
     * A message for one target, as it was posted: there is nothing more to clone.
     *
     * @param {EventTarget} target
     * @param {Posted} message
     * @param {{ source?: unknown, origin?: string }} [from] nothing, of a worker's port (HTML §9.4.4)
     */
    firePosted(target, message, { source = null, origin = '' } = {}) {
        const { data, ports } = this.received(message);
        this.guard(() =>
            dispatched(
                target,
                trusted(this.original('MessageEvent'), 'message', { data, origin, ports, source }),
            ),
        );
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
        if (typeof script !== 'string' && typeof script !== 'function')
            throw invalid('script', script, 'a string or a function');
        if (!this.active)
            throw new TabacusError('closed', 'its tab, frame or worker is closed: nothing can run there');
        this.beginTask();
        if (typeof script === 'string') return runScript(this, script);
        if (script.length > 0 && given.length === 0) return script.call(this.window, this.window, this.tab);
        return runFunction(this, script, given);
    }

    /**
     * Makes the context of a worker that this context owns.
     *
     * @param {number} agent
     */
    makeWorkerContext(agent) {
        return new Context(this.origin, this.tab, {
            kind: 'worker',
            agent,
            session: 0,
            url: this.url.href,
            owner: this,
        });
    }

    /**
     * A worker of this window's or worker's, as {@link Tab}'s openWorker().
     *
     * @param {string | Function} [script]
     * @param {{ name?: string }} [options]
     * @returns {import('./worker.js').Handle}
     */
    openWorker(script, options = {}) {
        const checked = checkOptions(options, ['name']);
        if (!this.active)
            throw new TabacusError('closed', 'its tab, frame or worker is closed: open another');
        return /** @type {any} */ (openWorker(this, script, checked));
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
        this.tasks.clear();
        this.rules.calls.closeContext(this.id);
        this.origin.forgetContext(this);
        this.origin.wake();
    }
}
