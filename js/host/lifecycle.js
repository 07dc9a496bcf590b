import { isFirefox } from './browser-engine.js';

/**
 * The page's lifecycle (Page Visibility, Page Lifecycle, HTML §7.4.2.3). A Worker has no such events.
 * `unload` and `beforeunload` are not used, because a listener of either keeps the page out of the
 * back/forward cache.
 */
export class LifecycleHost {
    /** @type {(() => void)[]} */
    #stops = [];

    /** @type {(() => void)[]} */
    #whenBack = [];

    #page;

    /**
     * Whether a lock that the page holds keeps the page out of the back/forward cache. It does in Firefox
     * (153, measured), which decides before `pagehide`.
     */
    locksBarCache = false;

    /**
     * In Firefox: whether the page is being left, or is in the back/forward cache. There Firefox (153,
     * measured) never reports the outcome of pending operations, and a lock that it grants meanwhile has no
     * holder. False in other engines.
     */
    going = false;

    /** Whether the page is prerendered, and was not shown yet: the browser then answers no request for a lock. */
    get prerendering() {
        return this.#page?.prerendering === true;
    }

    /** Whether the page is hidden. */
    get hidden() {
        return this.#page?.visibilityState === 'hidden';
    }

    /**
     * @param {import('./host.js').Platform} platform
     * @param {import('./host.js').HostEvents} report
     * @param {() => void} returned called, before any other listener, when the page is back from the
     *   back/forward cache
     */
    constructor(platform, report, returned) {
        const page = platform.document;
        this.#page = page;
        if (!page) return;
        this.locksBarCache = isFirefox(platform);
        this.#listen(page, 'visibilitychange', () => report.lifecycle(this.hidden ? 'hidden' : 'visible'));
        this.#listen(page, 'prerenderingchange', () => report.lifecycle('resumed'));
        this.#listen(page, 'freeze', () => report.lifecycle('frozen'));
        this.#listen(page, 'resume', () => report.lifecycle('resumed'));
        if (this.locksBarCache) this.#listenForGoing(platform, returned);
        this.#listen(platform, 'pagehide', () => report.lifecycle('pageHide'));
        this.#listen(platform, 'pageshow', ({ persisted }) => {
            if (!persisted) return;
            report.lifecycle('pageShow');
            for (const back of this.#whenBack) back();
        });
    }

    /**
     * Registers a callback for the return from the back/forward cache. It is called after the core has
     * received the report.
     *
     * @param {() => void} callback
     */
    onBack(callback) {
        this.#whenBack.push(callback);
    }

    /**
     * Listens in the capture phase, so that `going` is set before a listener of the application runs: it may
     * use counters.
     *
     * @param {import('./host.js').Platform} platform
     * @param {() => void} returned
     */
    #listenForGoing(platform, returned) {
        this.#listen(platform, 'pagehide', () => (this.going = true), true);
        const back = (/** @type {PageTransitionEvent} */ { persisted }) => {
            this.going = false;
            if (persisted) returned();
        };
        this.#listen(platform, 'pageshow', back, true);
    }

    /**
     * Adds a listener, which dispose() removes.
     *
     * @param {Pick<import('./host.js').Platform, 'addEventListener' | 'removeEventListener'>} target
     * @param {string} type
     * @param {(event: any) => void} listener
     * @param {boolean} [capture]
     */
    #listen(target, type, listener, capture) {
        target.addEventListener?.(type, listener, capture);
        this.#stops.push(() => target.removeEventListener?.(type, listener, capture));
    }

    /** Removes all listeners. */
    dispose() {
        for (const stop of this.#stops.splice(0)) stop();
        this.#whenBack = [];
    }
}
