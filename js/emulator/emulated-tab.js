/** A tab of an emulated origin: its window, its frames, its workers, and the faults that may happen to it. */

import { invalid, TabacusError } from '../common/errors.js';
import { checkInteger, checkOptions } from '../common/check-arguments.js';
import { Context } from './context.js';
import { allows } from './dom/document.js';
import { trusted } from '../platform/events.js';
import { hostTask } from './common/host-task.js';
import { internal } from '../platform/web-idl.js';
import { endDatabases } from './database/indexed-db.js';
import { MissingChunks } from './host/missing-chunks.js';
import { endWorker, openWorker } from './worker.js';

/** @typedef {import('./origin.js').Origin} Origin */
/** @typedef {import('./record-format.js').RecordFormat} RecordFormat */

/**
 * @param {unknown} url
 * @param {string | URL} base
 * @returns {string} the absolute URL
 * @throws {TabacusError} `invalid-argument` if it is not a URL of the base's origin
 */
export function sameOriginUrl(url, base) {
    const good = (typeof url === 'string' || url instanceof URL) && URL.canParse(String(url), base);
    const parsed = good ? new URL(url, base) : undefined;
    const { origin } = new URL(base);
    if (parsed?.origin !== origin) throw invalid('url', url, `a URL of the origin ${origin}`);
    return parsed.href;
}

export class Tab {
    /** @type {'open' | 'closed'} */
    #state = 'open';
    /** Whether the tab is hidden. */
    hidden = false;
    frozen = false;
    /** Whether it runs nothing although it received no event. */
    suspended = false;
    /** Whether it is in the back/forward cache. */
    cached = false;
    /** Whether it has been hidden for so long that its timers wait for whole seconds, and chains of them for minutes. */
    throttled = false;
    /** Whether `navigator.locks.query()` is forbidden. @internal */
    _deniesQuery = false;
    /** Whether every call of `navigator.locks` is forbidden. @internal */
    _refusesLocks = false;
    /** @internal */
    missingChunks = new MissingChunks();
    /**
     * The context of the script that opened it: the window of its opener, or a frame in it (HTML §7.2.2.1).
     *
     * @type {Context | undefined}
     * @internal
     */
    openedBy;
    /** @type {Context[]} */
    frames = [];
    /** @type {Context[]} */
    workers = [];

    /**
     * @param {Origin} origin
     * @param {{ opener?: Tab, url: string, recordFormat?: RecordFormat | undefined, number: number }} options
     * @internal
     */
    constructor(origin, { opener, url, recordFormat, number }) {
        this.origin = origin;
        /** Undefined if the tab writes records in the format of the present version. @internal */
        this.recordFormat = recordFormat;
        this.opener = opener;
        this.openedBy = opener?.context;
        this.number = number;
        const shared = opener?.closed ? undefined : opener; // a closed opener has no process
        /** @type {number} */
        this.process = shared ? shared.process : origin.rules.calls.openProcess();
        this.agent = origin.rules.calls.openAgent(this.process);
        this.session = origin.rules.calls.openSession(opener?.session ?? 0);
        this.context = new Context(origin, this, {
            kind: 'window',
            agent: this.agent,
            session: this.session,
            url,
        });
    }

    /** The global object of the tab. @returns {any} */
    get window() {
        return this.context.window;
    }

    get closed() {
        return this.#state === 'closed';
    }

    /** Whether nothing runs in it, because it is frozen, suspended or cached. */
    get stopped() {
        return this.frozen || this.suspended || this.cached;
    }

    /** The contexts of its window, its frames and its workers. */
    get contexts() {
        return [this.context, ...this.frames, ...this.workers];
    }

    /**
     * Runs a script in the tab, at once.
     *
     * - A text, a function without parameters, and a function that is given arguments, find the tab's `localStorage`,
     *   `navigator`, `setTimeout` and so on by name. Such a function does not find the variables that it closes over.
     * - A function with parameters that is given no arguments is called with the tab's window. It finds the variables
     *   that it closes over.
     *
     * @param {string | Function} script
     * @param {...any} given the arguments of the function
     * @returns {Promise<any>} resolves to what the script returns, or to the exports of a module (a text that exports)
     * @throws {TabacusError} `invalid-argument`; `closed`
     */
    async run(script, ...given) {
        return this.context.run(script, ...given);
    }

    /**
     * Opens a frame of the same origin in the tab. Its `window` shares the storages and the event loop of the tab.
     * @param {{ url?: string | URL, parent?: Context, sandbox?: string }} [options] `parent`: the context of the tab's
     *   window (the default) or of an open frame of the tab; `sandbox`: as that of an iframe: without
     *   `allow-same-origin` the origin of the frame is opaque
     * @returns {Context & { window: any }}
     * @throws {TabacusError} `invalid-argument`; `closed`
     */
    openFrame(options = {}) {
        const {
            url = '',
            parent = this.context,
            sandbox,
        } = /** @type {any} */ (checkOptions(options, ['url', 'parent', 'sandbox']));
        const framing =
            parent instanceof Context &&
            parent.tab === this &&
            parent.kind === 'window' &&
            (parent.active || this.closed);
        if (!framing) throw invalid('parent', parent, 'an open frame of this tab');
        if (sandbox !== undefined && typeof sandbox !== 'string')
            throw invalid('sandbox', sandbox, 'a string');
        const href = sameOriginUrl(url, parent.url);
        this.#checkOpen();
        const { agent, session } = this;
        const frame = new Context(this.origin, this, {
            kind: 'window',
            agent,
            session,
            url: href,
            parent,
            sandboxed: !allows(sandbox, 'same-origin'),
        });
        this.frames.push(frame);
        this.#index(parent);
        return frame;
    }

    #checkOpen() {
        if (this.closed) throw new TabacusError('closed', 'the tab is closed: open another');
    }

    /** The frames of a window. @param {Context} parent */
    framesOf(parent) {
        return this.frames.filter((frame) => frame.parent === parent);
    }

    /** Defines the properties by index of a window, which are its frames (HTML §7.2.2.2). @param {Context} parent */
    #index(parent) {
        const frames = this.framesOf(parent);
        for (const [at, { window }] of frames.entries()) {
            Object.defineProperty(parent.window, at, { value: window, configurable: true, enumerable: true });
        }
        delete parent.window[frames.length];
    }

    /** Removes a frame from its document, with its workers and the frames in it. @param {Context} frame */
    closeFrame(frame) {
        if (!(frame instanceof Context && frame.tab === this && frame.parent))
            throw invalid('frame', frame, 'a frame of this tab');
        for (const inner of this.framesOf(frame)) this.closeFrame(inner);
        for (const worker of this.workers.filter(({ owner }) => owner === frame)) endWorker(worker);
        frame.detached = true;
        endDatabases(frame);
        frame.close();
        this.frames = this.frames.filter((one) => one !== frame);
        this.#index(frame.parent);
    }

    /**
     * Opens a worker of the tab. It has an event loop of its own, and locks, channels, timers and IndexedDB, but no
     * storage. Its `postMessage` and `onmessage` exchange messages with the returned object.
     *
     * @param {string | Function} [script] as for {@link run}
     * @param {{ name?: string }} [options] `name`: that of its global object
     * @returns {import('./worker.js').Handle}
     * @throws {TabacusError} `invalid-argument`; `closed`
     */
    openWorker(script, options = {}) {
        const checked = checkOptions(options, ['name']);
        this.#checkOpen();
        return /** @type {any} */ (openWorker(this.context, script, checked));
    }

    // --- Faults and changes of its state

    /** @param {string} what */
    #trace(what) {
        this.context.rules.noteEverything();
        this.context.rules.trace(this.context.id, 'faults', () => what);
    }

    /**
     * Fires an event at each document of the tab; it also reaches the window.
     *
     * @param {string} type
     * @param {boolean} [bubbles]
     */
    #fireAtDocuments(type, bubbles = false) {
        for (const context of [this.context, ...this.frames]) {
            context.beginTask();
            context.fire(context.original('document'), trusted(Event, type, { bubbles }));
        }
    }

    /** @param {string} type @param {boolean} persisted */
    #fireTransition(type, persisted) {
        this.#fireAtWindows((context) =>
            trusted(context.original('PageTransitionEvent'), type, {
                persisted,
                bubbles: true,
                cancelable: true,
            }),
        );
    }

    /** @param {(context: Context) => Event} make */
    #fireAtWindows(make) {
        for (const context of [this.context, ...this.frames]) {
            context.beginTask();
            context.fire(context.window, make(context));
        }
    }

    /** Hides the tab. */
    hide() {
        if (this.closed || this.hidden) return;
        this.#trace('is hidden');
        this.hidden = true;
        this.#fireAtDocuments('visibilitychange', true);
    }

    /** Shows the tab. Its timers run without throttling. */
    show() {
        this.#setThrottled(false);
        if (this.closed || !this.hidden) return;
        this.#trace('is shown');
        this.hidden = false;
        this.#fireAtDocuments('visibilitychange', true);
    }

    /**
     * Hides the tab, and makes its timers wait for whole seconds, or for whole minutes if a chain of timers set them. This
     * includes those that wait already.
     */
    throttle() {
        this.hide();
        this.#setThrottled(true);
    }

    /** @param {boolean} throttled */
    #setThrottled(throttled) {
        if (this.throttled === throttled) return;
        this.throttled = throttled;
        for (const { timers } of this.contexts) timers.restart();
    }

    /**
     * Forbids `navigator.locks.query()` in the tab for ever, by a SecurityError, as Firefox does in a partitioned
     * frame. Requests still work.
     */
    denyQuery() {
        if (this.closed) return;
        this.#trace('may not query locks');
        this._deniesQuery = true;
    }

    /**
     * Lets files of tabacus be missing for the tab: the next loads of a module or of a piece of the program fail.
     * Calls that need them reject with `unavailable`, and work again once a file can be loaded.
     *
     * @param {number} [loads] how many loads fail: an integer from 1; all by default
     * @returns {() => void} ends this
     * @throws {TabacusError} `invalid-argument`
     */
    loseChunks(loads) {
        if (loads !== undefined) checkInteger('loads', loads, 1, 2 ** 31 - 1);
        this.#trace('misses files of tabacus');
        return this.missingChunks.lose(loads ?? Infinity);
    }

    /**
     * Forbids every call of `navigator.locks` in the tab for ever, by a SecurityError, as Chromium does where the user
     * blocks site data. Locks that the tab holds stay held.
     */
    refuseLocks() {
        if (this.closed) return;
        this.#trace('may not use locks');
        this._refusesLocks = true;
    }

    /** Fires `freeze`, after which no task of the tab runs until {@link thaw} (Page Lifecycle §4). */
    freeze() {
        if (this.closed || this.frozen) return;
        this.#trace('freezes');
        this.#fireAtDocuments('freeze');
        if (this.closed) return;
        this.frozen = true;
        this.#activate();
    }

    /** Fires `resume`, after which the tasks run that have waited. A page in the back/forward cache is shown first. */
    thaw() {
        if (this.cached) this.#restore();
        if (this.closed || !this.frozen) return;
        this.#trace('thaws');
        this.frozen = false;
        this.#activate();
        this.#fireAtDocuments('resume');
        this.origin.wake();
    }

    /**
     * Lets no task of the tab run until {@link wake}, and fires no event: as a stopped process, and as Safari does to
     * tabs in the background.
     */
    suspend() {
        if (this.closed || this.suspended) return;
        this.#trace('is suspended');
        this.suspended = true;
        this.#activate();
    }

    /** Ends {@link suspend}: the tasks run that have waited. */
    wake() {
        if (this.closed || !this.suspended) return;
        this.#trace('runs again');
        this.suspended = false;
        this.#activate();
        this.origin.wake();
    }

    /**
     * Fires `pagehide` and puts the page into the back/forward cache, where no task of it runs until {@link thaw}. If
     * the page still holds a lock after its handlers have run, it is not kept but killed.
     *
     * @returns {Promise<boolean>} whether it was kept
     */
    async bfcache() {
        if (this.closed || this.cached) return false;
        this.#trace('goes into the back/forward cache');
        const held = this.origin.hold();
        try {
            this.#fireTransition('pagehide', true);
            this.hidden = true;
            this.#fireAtDocuments('visibilitychange', true);
            // The microtasks at the end of the turn may release locks. Work beside the schedule advances by one turn
            // exactly, on any machine.
            await new Promise((resolve) => hostTask(() => resolve(undefined), this.origin.working));
            if (this.closed) return false;
            const agents = new Set(this.contexts.map(({ agent }) => agent));
            this.cached = [...agents].every((agent) => this.origin.rules.calls.setCached(agent, true));
        } finally {
            held();
        }
        if (!this.cached) this.kill();
        return this.cached;
    }

    #restore() {
        this.#trace('comes back from the back/forward cache');
        this.cached = false;
        for (const { agent } of this.contexts) this.origin.rules.calls.setCached(agent, false);
        this.hidden = false;
        this.#fireAtDocuments('visibilitychange', true);
        this.#fireTransition('pageshow', true);
        this.origin.wake();
    }

    #activate() {
        const active = !this.frozen && !this.suspended;
        for (const { agent } of this.contexts) this.origin.rules.calls.setActive(agent, active);
    }

    /**
     * Kills the process of the tab. None of its code runs after this, and its locks are released a little later. The
     * seed decides which of its writes to localStorage that are under way arrive.
     */
    kill() {
        if (this.closed) return;
        this.#trace('dies');
        const underWay = this.origin.rules.calls.writesUnderWay(this.agent);
        this.#end(underWay === 0 ? 0 : this.origin.random.below(underWay + 1));
    }

    /** Kills the process of the tab as {@link kill} does, but its locks stay held, by nobody. Only a steal ends them. */
    orphanLocks() {
        if (this.closed) return;
        for (const agent of new Set(this.contexts.map((context) => context.agent)))
            this.origin.rules.calls.orphanLocks(agent);
        this.kill();
    }

    /**
     * Closes the tab as a user does, but without `beforeunload`: fires `pagehide`, `visibilitychange` and `unload`
     * (HTML §7.4.6.4). All that it has written arrives.
     */
    async close() {
        if (this.closed) return;
        this.#trace('is closed');
        this.#fireAtWindows((context) =>
            trusted(context.original('BeforeUnloadEvent'), internal, { cancelable: true }),
        );
        this.#fireTransition('pagehide', false);
        this.hidden = true;
        this.#fireAtDocuments('visibilitychange', true);
        this.#fireAtWindows(() => trusted(Event, 'unload'));
        this.#end(0xffffffff);
    }

    /** @param {number} kept */
    #end(kept) {
        if (this.closed) return; // a handler has ended it
        const { contexts } = this;
        this.#state = 'closed';
        for (const context of contexts) {
            endDatabases(context);
            context.close();
        }
        for (const agent of new Set(contexts.map((context) => context.agent)))
            this.origin.rules.calls.kill(agent, kept);
        this.origin.forget(this);
    }
}

/**
 * Checks that an argument is a tab of an origin.
 *
 * @param {import('./origin.js').Origin} origin
 * @param {string} argument
 * @param {unknown} tab
 * @throws {TabacusError} `invalid-argument`
 */
export function checkTabOf(origin, argument, tab) {
    if (!(tab instanceof Tab && tab.origin === origin)) throw invalid(argument, tab, 'a tab of this origin');
}
