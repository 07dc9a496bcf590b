/** The page under test, with the built package, on an origin of its own, and the server of its history. */

import { fileURLToPath } from 'node:url';

import { createServer, STRICT_CSP } from '../../../web/server.js';
import { unpackVersion } from '../../versions/unpack-version.js';
import { startHistory } from './history.js';

/** @param {string} path */
const here = (path) => new URL(path, import.meta.url);

/** The package under test. A mutation test sets TABACUS_DIST to a broken one. */
export const DIST = process.env.TABACUS_DIST ?? fileURLToPath(here('../../../dist'));

/** The package of a later version, which `npm run proof` builds and serves at `/later`. */
export const LATER = process.env.TABACUS_LATER;

/** Answers as an application does when its user signs out. @type {import('../../../web/server.js').Handler} */
const clearSiteData = async (_, response) => {
    response.setHeader('Clear-Site-Data', '"storage"');
    response.end();
};

/**
 * Serves the page under the strict policy of web/, which is extended by the connection to the history.
 *
 * @param {{ isolated?: boolean, port?: number, earlier?: string }} [options]  `earlier`: the tarball of an earlier
 *   version in tests/versions, whose files are served at `/earlier`
 */
export async function serveSite({ isolated = true, port = 0, earlier = '' } = {}) {
    const history = await startHistory();
    const server = await createServer({
        mounts: {
            '/': here('../page'),
            '/dist': DIST,
            '/programs': here('../../programs'),
            ...(LATER && { '/later': LATER }),
            ...(earlier && { '/earlier': unpackVersion(here(`../../versions/${earlier}`)) }),
        },
        handlers: { '/clear-site-data': clearSiteData },
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
         * The address of the page for a browser without automation.
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
