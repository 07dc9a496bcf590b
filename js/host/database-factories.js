/** The objects that open the database of a tab: `indexedDB` of the page, or that of a hidden frame. */

import { attempt, isOpaque } from './failure.js';
import { hiddenFrame } from './hidden-frame.js';

/**
 * Opens with `indexedDB` of the page. If that is dead, a hidden frame is tried: after the network process of WebKitGTK
 * (2.50, measured) has crashed, IndexedDB stays dead for each open page and its workers, while that of a new frame
 * works.
 */
export class DatabaseFactories {
    #platform;

    /** The factory of the page. @type {IDBFactory | undefined} */
    #own;

    /** The hidden frame whose factory is used. @type {HTMLIFrameElement | undefined} */
    frame;

    /** Whether no transaction was completed since the frame was made. */
    #untested = false;

    /** @param {import('./host.js').Platform} platform */
    constructor(platform) {
        this.#platform = platform;
        this.#own = isOpaque(platform) ? undefined : attempt(() => platform.indexedDB);
    }

    /** The factory of the frame if there is a frame, otherwise that of the page. Undefined if the page has none. */
    get current() {
        return attempt(() => this.frame?.contentWindow?.indexedDB) ?? this.#own;
    }

    /** Whether the page has removed the frame: its connections are closed, and their events do not come. */
    get removed() {
        return this.frame?.isConnected === false;
    }

    /**
     * After repeated failures, makes a new frame for the next attempt. If the last attempt was in a new frame, the page
     * is next.
     * @returns {boolean} whether the next attempt is in a frame; it is not if this platform cannot make a frame
     */
    alternate() {
        const again = this.#untested;
        this.usePage();
        this.frame = again ? undefined : attempt(() => hiddenFrame(this.#platform));
        this.#untested = this.frame !== undefined;
        return this.#untested;
    }

    /** Notes that a transaction was completed. */
    worked() {
        this.#untested = false;
    }

    /** Removes the frame, after its transactions have ended, and uses the page. */
    usePage() {
        this.frame?.remove();
        this.frame = undefined;
        this.#untested = false;
    }
}
