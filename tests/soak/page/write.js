/** Writes into the event log of the test, which ../event-log.js keeps. */

/** @typedef {import('../event-log.js').Event} Event */

/** A page that is left or frozen loses its requests. When it goes on, it repeats them. */
const ATTEMPTS = 50;
const RETRY_MS = 50;

let lastEntry = 0;
const document = crypto.randomUUID();

/**
 * Appends an event to the log, once: the log knows an entry that is sent again.
 *
 * @param {Event} event
 * @returns {Promise<void>} resolves when the event is in the log
 */
export async function write(event) {
    const body = JSON.stringify({ entry: `${document}/${++lastEntry}`, event });
    for (let attempt = 1; ; attempt++) {
        try {
            await fetch('/log', { method: 'POST', body });
            return;
        } catch (error) {
            if (attempt === ATTEMPTS) throw error;
            await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
        }
    }
}
