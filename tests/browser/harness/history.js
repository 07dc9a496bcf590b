/**
 * The history of the operations of all tabs, in one order. A server on an origin of its own records it.
 *
 * The history stays valid when a tab dies, because each entry can only make the checker more lenient, and never hides
 * an increment that was acknowledged before:
 * - an attempt is recorded and answered before the tab adds anything of it;
 * - an acknowledgement is sent after flush() resolved, so it is recorded late. If the tab dies it is not recorded,
 *   and the outcome counts as unknown;
 * - the beginning of a read is recorded before the read begins, and its end is sent after the read has ended.
 */

import { createServer } from 'node:http';

/** @typedef {import('./jepsen-counter.js').Event} Event */

/**
 * @typedef {object} History
 * @property {string} url
 * @property {(counter: string) => Event[]} of  returns a copy of the events of a counter
 * @property {(counter: string, event: Event) => void} record  adds an event of the test itself
 * @property {(counter: string, accept: (event: Event) => boolean) => Promise<void>} next
 *   resolves when an accepted event is recorded
 * @property {() => Promise<void>} close
 */

/** @returns {Promise<History>} */
export async function startHistory() {
    /** @type {Map<string, Event[]>} */
    const events = new Map();
    /** @type {Set<(counter: string, event: Event) => void>} */
    const listeners = new Set();
    /** @param {string} counter @param {Event} event */
    const record = (counter, event) => {
        const list = events.get(counter) ?? [];
        events.set(counter, list);
        list.push(event);
        for (const listener of listeners) listener(counter, event);
    };
    const server = createServer((request, response) => {
        let body = '';
        request.setEncoding('utf8');
        request.on('data', (chunk) => (body += chunk));
        request.on('end', () => {
            const { counter, event } = JSON.parse(body);
            record(counter, event);
            response.writeHead(200, {
                'Access-Control-Allow-Origin': '*',
                'Cross-Origin-Resource-Policy': 'cross-origin',
            });
            response.end();
        });
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    return {
        url: `http://127.0.0.1:${port}`,
        of: (counter) => [...(events.get(counter) ?? [])],
        record,
        next: (counter, accept) =>
            new Promise((resolve) => {
                /** @param {string} name @param {Event} event */
                const listener = (name, event) => {
                    if (name !== counter || !accept(event)) return;
                    listeners.delete(listener);
                    resolve();
                };
                listeners.add(listener);
            }),
        close: () =>
            new Promise((resolve) => {
                server.close(() => resolve());
                server.closeAllConnections();
            }),
    };
}
