/** The page under test, on an origin of its own: the built package, and where its history is kept. */

import { fileURLToPath } from 'node:url';

import { createServer, STRICT_CSP } from '../../../web/server.js';
import { startHistory } from './history.js';

/** @param {string} path */
const here = (path) => new URL(path, import.meta.url);

/** A mutation test puts a broken package here. */
export const DIST = process.env.TABACUS_DIST ?? fileURLToPath(here('../../../dist'));

/**
 * The strict policy of web/, with the one connection more that the history needs.
 *
 * @param {{ isolated?: boolean, port?: number }} [options]
 */
export async function serveSite({ isolated = true, port = 0 } = {}) {
    const history = await startHistory();
    const server = await createServer({
        mounts: {
            '/': here('../page'),
            '/dist': DIST,
            '/programs': here('../../programs'),
        },
        isolated,
        csp: STRICT_CSP.replace("connect-src 'self'", `connect-src 'self' ${history.url}`),
        port,
    });
    const query = new URLSearchParams({ history: history.url });
    return {
        url: server.url,
        port: server.port,
        page: `${server.url}/?${query}`,
        /**
         * The page for a browser that is not driven.
         *
         * @param {object} orders
         */
        pageWith: (orders) => `${server.url}/?${query}&orders=${encodeURIComponent(JSON.stringify(orders))}`,
        history,
        close: async () => {
            await server.close();
            await history.close();
        },
    };
}
