/** What the log says about the pages at each of its positions. */

/** @typedef {import('../event-log.js').Event} Event */

/** What a page was at a moment. @typedef {{ period: number, isCalm: boolean, isGone: boolean }} PageState */

/** @type {PageState} */
const FIRST = { period: 0, isCalm: true, isGone: false };

/** Follows the pages through the log. */
export class Pages {
    /** @type {Map<string, PageState>} */
    #states = new Map();

    /** Takes the next event of the log. @param {Event} event */
    see({ type, page = '' }) {
        const { period, isGone } = this.of(page);
        if (type === 'gone') this.#states.set(page, { period: period + 1, isCalm: false, isGone: true });
        if (type === 'disturbed') this.#states.set(page, { period: period + 1, isCalm: false, isGone });
        if (type === 'calm') this.#states.set(page, { period: period + 1, isCalm: !isGone, isGone });
    }

    /** @param {string} page @returns {PageState} */
    of(page) {
        return this.#states.get(page) ?? FIRST;
    }
}

/**
 * The states of the page of each event at that event.
 *
 * @param {readonly Event[]} events
 * @returns {Generator<[Event, PageState]>}
 */
export function* withPages(events) {
    const pages = new Pages();
    for (const event of events) {
        pages.see(event);
        yield [event, pages.of(event.page ?? '')];
    }
}
