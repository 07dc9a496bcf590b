/**
 * What the tabs did, in one order, written down outside of them: a server on an origin of its own.
 *
 * The log cannot lie at the moment of a death, because each entry errs to the side that makes the
 * checker more lenient, never stricter and never blind to what had been promised before:
 * - an attempt is answered, hence recorded, before the tab adds anything of it;
 * - an acknowledgement is sent after flush() resolved, so it is recorded late or, if the tab dies,
 *   never: then the outcome counts as unknown;
 * - a read's beginning is answered before it begins, and its end is sent after it ended.
 */

import { createServer } from 'node:http';

/** @typedef {import('./jepsen-counter.js').Event} Event */

/**
 * @typedef {object} History
 * @property {string} url
 * @property {(counter: string) => Event[]} of  a copy
 * @property {(counter: string, event: Event) => void} record  for what the test itself does
 * @property {(counter: string, accept: (event: Event) => boolean) => Promise<void>} next
 *   resolves in the moment in which such an event is recorded
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
