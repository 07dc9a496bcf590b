/**
 * A context: one global object (the window of a tab or of a frame, or the scope of a worker) and its pending
 * requests.
 */

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
import { revokeUrls } from './global/object-urls.js';
import { openWorker } from './worker.js';
import { throwingLine } from './trace/source-line.js';

/** @typedef {import('./origin.js').Origin} Origin */
/** @typedef {import('./emulated-tab.js').Tab} Tab */

/** A message on its way to its one target. @typedef {import('./messages/post-message.js').Posted} Posted */

/**
 * The members of an ErrorEvent for an uncaught error.
 *
 * @typedef {{ message: string, filename: string, error: unknown }} Uncaught
 */

/** The name of an event loop in traces. @param {'window' | 'worker'} kind @param {Tab} tab */
const agentName = (kind, tab) =>
    kind === 'worker' ? `worker ${tab.workers.length + 1} of tab ${tab.number}` : `tab ${tab.number}`;

export class Context {
    alive = true;
    /** Whether it is a frame that was removed from its document, or belongs to a closed tab. */
    detached = false;
    /** The `name` of its global object. */
    name = '';
    /** The iframe element of a frame. @type {object | null} */
    element = null;
    #reporting = false;
    /** Whether it listened for `storage` events at the last step that a search knows. */
    listening = false;
    /** How many tasks the host has begun for it. */
    hostWorks = 0;
    /** How many of these tasks are complete. */
    hostWorksDone = 0;
    /** The event for which a listener of the window runs: `window.event`. @type {Event | undefined} */
    event;
    /** The properties of its global object that have been made, by name. @type {Map<string, unknown>} */
    made = new Map();
    /** The waiting tasks, by their numbers in the rules. @type {Map<number, () => void>} */
    tasks = new Map();
    /** @type {Map<number, (data: unknown) => void>} */
    channels = new Map();
    /**
     * Access to what scripts declared by let, const and class (ECMAScript §9.1.1.4).
     *
     * @type {Map<string, import('./scripts/run-script.js').Access>}
     */
    lexical = new Map();

    /**
     * @param {Origin} origin
     * @param {Tab} tab
     * @param {{ kind: 'window' | 'worker', agent: number, session: number, url: string, parent?: Context, owner?: Context, sandboxed?: boolean }} options
     *   `parent`: the parent of a frame; `owner`: the owner of a worker; `sandboxed`: whether its origin is opaque
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
        /**
         * The address of its document or script. It may be about:blank, which has its opener's origin (HTML
         * §7.3.2.1).
         */
        this.address = this.url;
        this.parent = parent;
        this.owner = owner;
        this.id = origin.rules.calls.openContext(agent, session);
        /**
         * The number of its opaque origin, which all contexts with that number share (HTML §7.1.1); undefined if not
         * opaque.
         */
        this.opaque = sandboxed || parent?.opaque !== undefined ? this.id : owner?.opaque;
        this.born_ms = origin.clock.now();
        this.timeOrigin = origin.clock.wall();
        this.random = new SeededRandom(origin.seed, this.id);
        if (this.rules.tracing) this.rules.calls.nameAgent(agent, agentName(kind, tab));
        this.locks = new ContextLocks(this);
        this.timers = new Timers(this);
        /** @type {any} */
        this.window = makeGlobal(this);
        origin.contexts.set(this.id, this);
    }

    /**
     * An interface or an object of its global object, even if the page has replaced the property of that name.
     *
     * @param {string} name
     * @returns {any}
     */
    original(name) {
        return originalOf(this, name);
    }

    /** Whether its writes have an effect. */
    get active() {
        return this.alive && !this.detached;
    }

    /** Its serialized origin (HTML §7.1.1). */
    get originText() {
        return this.opaque === undefined ? this.url.origin : 'null';
    }

    /** Throws if the origin is opaque, since that has no storage (Storage §4.4). @param {string} what */
    checkStorable(what) {
        if (this.opaque !== undefined)
            throw new DOMException(`${what}: the origin is opaque`, 'SecurityError');
    }

    /** Whether a worker has closed itself. Its current task runs to its end (HTML §10.2.4, "closing"). */
    closing = false;

    /** Whether its handlers run: none runs after it was killed, closed, removed or terminated. */
    get runs() {
        return this.active || this.closing;
    }

    /** Whether its document is fully active (HTML §7.3.3). */
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

    /** Notes that a task of this context begins. */
    beginTask() {
        this.origin.current = this;
        this.origin.clock.beginTask();
        this.timers.beginTask();
    }

    /**
     * Does what {@link guard} does, for a script of this context that runs in a task of another one.
     *
     * @param {() => unknown} call
     */
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

    /**
     * Calls a listener. Meanwhile its event is the current event of the window (DOM §2.10, "inner invoke").
     *
     * @param {Event} event
     * @param {() => unknown} call
     */
    callListener(event, call) {
        const outer = this.event;
        this.event = event;
        try {
            return this.invoke(call);
        } finally {
            this.event = outer;
        }
    }

    /** Runs a callback. Reports what it throws as an uncaught error of the global object. @param {() => void} call */
    guard(call) {
        try {
            call();
        } catch (error) {
            this.report(error);
        }
    }

    /**
     * Reports an uncaught error (HTML §8.1.4.3). Never throws. Nobody receives the errors of a context that has ended.
     *
     * @param {unknown} error
     */
    report(error) {
        if (!this.runs) return;
        this.traceThrow(error);
        const uncaught = { message: `Uncaught ${describe(error)}`, filename: this.address.href, error };
        // No handler receives an error that occurs while an error is reported.
        if (this.#reporting) return this.unhandled(uncaught);
        this.#reporting = true;
        try {
            const event = trusted(this.original('ErrorEvent'), 'error', { ...uncaught, cancelable: true });
            if (dispatched(this.window, event)) this.unhandled(uncaught);
        } finally {
            this.#reporting = false;
        }
    }

    /** Adds a line for an error to the trace. @param {unknown} error */
    traceThrow(error) {
        const { rules } = this;
        if (rules.tracing)
            rules.trace(this.id, 'turn', () => `throws ${describe(error)}`, { line: throwingLine(error) });
    }

    /** Passes on an error that no handler has handled; a worker passes it to its owner. @param {Uncaught} uncaught */
    unhandled = ({ error }) => this.origin.uncaught(error);

    /** @param {EventTarget} target @param {Event} event */
    fire(target, event) {
        this.guard(() => dispatched(target, event));
    }

    /** Serializes a message (HTML §2.7.3). @param {unknown} message */
    serialize(message) {
        return cloned(message);
    }

    /**
     * Attaches the transferred ports of a message to this context.
     *
     * @template {Posted} P
     * @param {P} posted
     * @returns {P}
     */
    received(posted) {
        for (const port of posted.ports) if (port instanceof Port) Port.arrive(port, this);
        return posted;
    }

    /**
     * Fires a message that has many receivers, each of which gets a clone.
     *
     * @param {EventTarget} target
     * @param {unknown} data
     */
    fireMessage(target, data) {
        this.firePosted(target, { data: cloned(data), ports: [] }, { origin: this.originText });
    }

    /**
     * Fires a message that has one target. It was cloned when it was posted.
     *
     * @param {EventTarget} target
     * @param {Posted} message
     * @param {{ source?: unknown, origin?: string }} [from] left out for a port of a worker (HTML §9.4.4)
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
     * @param {...any} given the arguments of the function
     * @returns {Promise<any>} resolves to what the script returns
     * @throws {TabacusError} `invalid-argument`; `closed` if the context is closed
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
     * Opens a worker that this window or worker owns, as {@link Tab}'s openWorker() does.
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

    /** Closes the context: its locks are released, and its timers never fire. */
    close() {
        if (!this.alive) return;
        this.alive = false;
        this.timers.clearAll();
        this.channels.clear();
        this.tasks.clear();
        revokeUrls(this);
        this.rules.calls.closeContext(this.id);
        this.origin.forgetContext(this);
        this.origin.wake();
    }
}
