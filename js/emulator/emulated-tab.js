/** A tab of an emulated origin: its window, its frames and workers, and what may happen to it. */

import { invalid, TabacusError } from '../common/errors.js';
import { checkOptions } from '../common/check-arguments.js';
import { Context } from './context.js';
import { allows } from './dom/document.js';
import { trusted } from '../platform/events.js';
import { hostTask } from './common/host-task.js';
import { internal } from '../platform/web-idl.js';
import { endDatabases } from './database/indexed-db.js';
import { endWorker, openWorker } from './worker.js';

/** @typedef {import('./origin.js').Origin} Origin */

/**
 * @param {unknown} url
 * @param {string | URL} base
 * @returns {string} it, absolute
 * @throws {TabacusError} `invalid-argument` where it is no URL, or not of the base's origin
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
    /** In the back/forward cache. */
    cached = false;
    /** Hidden for so long that its timers run once a minute. */
    throttled = false;
    /** The context of the script that opened it: an opener's window, or a frame of it (HTML §7.2.2.1). @type {Context | undefined} @internal */
    openedBy;
    /** @type {Context[]} */
    frames = [];
    /** @type {Context[]} */
    workers = [];

    /**
     * @param {Origin} origin
     * @param {{ opener?: Tab, url: string, number: number }} options
     * @internal
     */
    constructor(origin, { opener, url, number }) {
        this.origin = origin;
        this.opener = opener;
        this.openedBy = opener?.context;
        this.number = number;
        const shared = opener?.closed ? undefined : opener; // a closed one's process is gone
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

    /** The tab's global object. @returns {any} */
    get window() {
        return this.context.window;
    }

    get closed() {
        return this.#state === 'closed';
    }

    /** Whether nothing runs in it, because it is frozen or cached. */
    get stopped() {
        return this.frozen || this.cached;
    }

    /** All its contexts: its window, its frames' and its workers'. */
    get contexts() {
        return [this.context, ...this.frames, ...this.workers];
    }

    /**
     * Runs a script in the tab, at once. A text, or a function of no parameter (or one with arguments), finds the
     * tab's `localStorage`, `navigator`, `setTimeout` and so on by name, and what it closes over it does not; a
     * function with parameters and no arguments is called with the tab's window, and keeps what it closes over.
     *
     * @param {string | Function} script
     * @param {...any} given the function's arguments
     * @returns {Promise<any>} what it returns; of a module (a text that exports), what it exports
     * @throws {TabacusError} `invalid-argument`; `closed`
     */
    async run(script, ...given) {
        return this.context.run(script, ...given);
    }

    /**
     * A frame of the same origin in the tab: its `window` shares the tab's storages and event loop.
     * @param {{ url?: string | URL, parent?: Context, sandbox?: string }} [options] `parent`: an open frame of the tab, or
     *   its window's; `sandbox`: as an iframe's, without `allow-same-origin` its origin is an opaque one
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

    /** HTML §7.2.2.2: a window's frames are its properties by index. @param {Context} parent */
    #index(parent) {
        const frames = this.framesOf(parent);
        for (const [at, { window }] of frames.entries()) {
            Object.defineProperty(parent.window, at, { value: window, configurable: true, enumerable: true });
        }
        delete parent.window[frames.length];
    }

    /** A frame is taken out of its document, with its workers and the frames in it. @param {Context} frame */
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
     * A worker of the tab, an event loop of its own: locks, channels, timers and IndexedDB, but no storage. In it
     * `postMessage` and `onmessage` speak with what is returned.
     *
     * @param {string | Function} [script] as for {@link run}
     * @param {{ name?: string }} [options] `name`: its global object's
     * @returns {import('./worker.js').Handle}
     * @throws {TabacusError} `invalid-argument`; `closed`
     */
    openWorker(script, options = {}) {
        const checked = checkOptions(options, ['name']);
        this.#checkOpen();
        return /** @type {any} */ (openWorker(this.context, script, checked));
    }

    // --- What may happen to it

    /** @param {string} what */
    #trace(what) {
        this.context.rules.trace(this.context.id, 'faults', () => what);
    }

    /** Fires an event at each document of the tab, from which it reaches the window. @param {string} type @param {boolean} [bubbles] */
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

    /** Shows the tab; its timers run as usual. */
    show() {
        this.#setThrottled(false);
        if (this.closed || !this.hidden) return;
        this.#trace('is shown');
        this.hidden = false;
        this.#fireAtDocuments('visibilitychange', true);
    }

    /** It is hidden, and its timers run once a minute from here on, those that wait among them. */
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

    /** Page Lifecycle §4: after `freeze` no task of it runs until {@link thaw}. */
    freeze() {
        if (this.closed || this.frozen) return;
        this.#trace('freezes');
        this.#fireAtDocuments('freeze');
        this.frozen = true;
        this.#activate();
    }

    /** `resume`, and what waited meanwhile. A page of the back/forward cache is shown again. */
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
     * Into the back/forward cache: `pagehide`, and then nothing runs until {@link thaw}. A page that still
     * holds a lock when its handlers have run is not kept: it dies.
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
            // The end of the turn: its microtasks may let locks go. What is beside the schedule advances by one turn, whatever the machine.
            await new Promise((resolve) => hostTask(() => resolve(undefined), this.origin.working));
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
        for (const { agent } of this.contexts) this.origin.rules.calls.setActive(agent, !this.frozen);
    }

    /**
     * Its process dies: nothing of it runs any more, its locks are released a little later, and of its writes
     * to localStorage that are on their way, the seed decides which arrive.
     */
    kill() {
        if (this.closed) return;
        this.#trace('dies');
        const underWay = this.origin.rules.calls.writesUnderWay(this.agent);
        this.#end(underWay === 0 ? 0 : this.origin.random.below(underWay + 1));
    }

    /**
     * Closes the tab as a user does, without regard to `beforeunload`: `pagehide`, `visibilitychange`, `unload`
     * (HTML §7.4.6.4), and all that it wrote arrives.
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
