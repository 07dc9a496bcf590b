/**
 * The append-only log of the soak test: what the pages attempt and what is acknowledged to them, in one order. It lives
 * outside of the browser.
 *
 * The checks rely on this order:
 * - a page writes an attempt, and the log answers, before the page begins;
 * - a page writes an acknowledgement after it received it, so that of a page that dies the log may lack one;
 * - a page writes the beginning of a hold when it has been granted, and its end before it releases.
 *
 * The test itself writes what it does to a page: `disturbed` before the page stops (frozen, suspended, busy, left),
 * `calm` when the page goes on, `gone` before it is closed, reloaded or killed, and `fault` before its database fails.
 */

/**
 * An event. `type` says what happened, and the other properties depend on it.
 *
 * @typedef {Record<string, any> & { type: string, page?: string, op?: string }} Event
 */

export class EventLog {
    /** @type {Event[]} */
    #events = [];
    /** The entries that were received. @type {Set<string>} */
    #entries = new Set();
    #since_ms = performance.now();

    /** @returns {readonly Event[]} all events in their order */
    get events() {
        return this.#events;
    }

    /** @param {Event} event */
    append(event) {
        this.#events.push({ ...event, time_ms: Math.round(performance.now() - this.#since_ms) });
    }

    /**
     * Answers a page that sends an event.
     *
     * @type {import('../../web/server.js').Handler}
     */
    handle = async (request, response) => {
        let body = '';
        for await (const chunk of request.setEncoding('utf8')) body += chunk;
        const { entry, event } = JSON.parse(body);
        if (!this.#entries.has(entry)) this.append(event);
        this.#entries.add(entry);
        response.end();
    };

    /** The events as lines of JSON. */
    *lines() {
        for (const event of this.#events) yield `${JSON.stringify(event)}\n`;
    }
}
