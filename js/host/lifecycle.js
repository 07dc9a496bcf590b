import { isFirefox } from './browser-engine.js';

/**
 * The page's lifecycle (Page Visibility, Page Lifecycle, HTML §7.4.2.3). A worker has none of it. Never
 * `unload` or `beforeunload`: either keeps a page out of the back/forward cache.
 */
export class LifecycleHost {
    /** @type {(() => void)[]} */
    #stops = [];

    /** @type {(() => void)[]} */
    #whenBack = [];

    #page;

    /**
     * Whether a lock that the page holds when it is left keeps it out of the back/forward cache, as in Firefox (153,
     * measured), which asks before `pagehide`.
     */
    locksBarCache = false;

    /**
     * Whether the page is being left, or is in the back/forward cache, where that forgets what is under way: Firefox
     * (153, measured) never reports the outcome, and leaves a lock that it grants meanwhile with nobody.
     */
    going = false;

    /** Whether nobody sees the page. */
    get hidden() {
        return this.#page?.visibilityState === 'hidden';
    }

    /**
     * @param {import('./host.js').Platform} platform
     * @param {import('./host.js').HostEvents} report
     * @param {() => void} returned called, before any other listener, when the page is back from where it was going
     */
    constructor(platform, report, returned) {
        const page = platform.document;
        this.#page = page;
        if (!page) return;
        this.locksBarCache = isFirefox(platform);
        this.#listen(page, 'visibilitychange', () => report.lifecycle(this.hidden ? 'hidden' : 'visible'));
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

    /** @param {() => void} callback called when the page is back from the back/forward cache, after the report of it */
    onBack(callback) {
        this.#whenBack.push(callback);
    }

    /**
     * Before any listener of the application, which may add.
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
     * @param {Pick<import('./host.js').Platform, 'addEventListener' | 'removeEventListener'>} target
     * @param {string} type
     * @param {(event: any) => void} listener
     * @param {boolean} [capture]
     */
    #listen(target, type, listener, capture) {
        target.addEventListener?.(type, listener, capture);
        this.#stops.push(() => target.removeEventListener?.(type, listener, capture));
    }

    dispose() {
        for (const stop of this.#stops.splice(0)) stop();
        this.#whenBack = [];
    }
}
