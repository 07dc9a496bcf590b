/** Records events in the history of harness/history.js, which explains the order of these calls. */

const history = new URLSearchParams(location.search).get('history') ?? '';

/** @typedef {import('../harness/jepsen-counter.js').Event} Event */

/**
 * @param {string} counter
 * @param {Event} event
 * @returns {Promise<void>} resolves when the event is recorded
 */
export async function record(counter, event) {
    // The body is text, so that the request is a simple one, which needs no preflight.
    const response = await fetch(history, {
        method: 'POST',
        body: JSON.stringify({ counter, event }),
    });
    if (!response.ok) throw new Error(`the server of the history answered ${response.status}`);
}

/** @param {number[]} amounts */
export const sums = (amounts) => ({
    plus: amounts.reduce((sum, n) => sum + Math.max(n, 0), 0),
    minus: amounts.reduce((sum, n) => sum + Math.max(-n, 0), 0),
});
