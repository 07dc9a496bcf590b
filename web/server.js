/**
 * A static server that sends the isolation headers: for the demo, for the tests, and for trying threads on a page of
 * one's own. It answers GET and HEAD with files and listens on this machine only. It passes on requests for addresses
 * that have a handler. The command line is web/serve.js.
 */

import { createReadStream } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { pipeline } from 'node:stream/promises';

import { policyHeaders, STRICT_CSP } from './headers.js';
import { mediaType } from './media-types.js';
import { find, parseMounts, segmentsOf } from './mounts.js';

export { STRICT_CSP } from './headers.js';

const HOST = '127.0.0.1';

/**
 * @typedef {object} ServerOptions
 * @property {string | URL} [root]  the folder served at `/`; short for `mounts: { '/': root }`
 * @property {Record<string, string | URL>} [mounts]  folders and files by their addresses, beside `root`
 * @property {Record<string, Handler>} [handlers]  handlers by their addresses; each also answers for all below its
 *   address
 * @property {boolean} [isolated]  whether COOP and COEP are sent, by default true
 * @property {string | null} [csp]  the content security policy, by default STRICT_CSP; null for none
 * @property {number} [port]  by default 0, for any free port; if the port is taken, the server takes a free one
 */

/**
 * Answers requests of any method. The headers of the policy are set before it is called.
 *
 * @callback Handler
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 * @param {string} path  what follows the handler's address, with the query
 * @returns {Promise<void>}  if it rejects, the connection is cut
 */

/**
 * @typedef {object} Server
 * @property {string} url  the origin, without a slash at its end: `http://127.0.0.1:8080`
 * @property {number} port
 * @property {() => Promise<void>} close  ends the server and its open connections
 */

/**
 * @param {ServerOptions} options
 * @returns {Promise<Server>}
 */
export async function createServer({
    root,
    mounts = {},
    handlers = {},
    isolated = true,
    csp = STRICT_CSP,
    port = 0,
}) {
    const parsed = parseMounts(root === undefined ? mounts : { ...mounts, '/': root });
    const headers = policyHeaders({ isolated, csp });
    const server = createHttpServer((request, response) => {
        for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
        const [address, handler] = handlerOf(handlers, request.url ?? '') ?? [];
        const answered = handler
            ? handler(request, response, (request.url ?? '').slice(address?.length))
            : answer(parsed, request, response);
        answered.catch(() => response.destroy());
    });
    const taken = await listen(server, port);
    return { url: `http://${HOST}:${taken}`, port: taken, close: () => close(server) };
}

/**
 * @param {Record<string, Handler>} handlers
 * @param {string} url
 */
const handlerOf = (handlers, url) =>
    Object.entries(handlers).find(([address]) => `${url}/`.startsWith(`${address}/`));

/**
 * @param {import('./mounts.js').Mount[]} mounts
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 */
async function answer(mounts, request, response) {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
        response.setHeader('Allow', 'GET, HEAD');
        return refuse(response, 405, 'Method not allowed');
    }
    const [path = '', ...query] = (request.url ?? '').split('?');
    const segments = segmentsOf(path);
    if (!segments) return refuse(response, 400, 'Bad request');
    const result = await find(mounts, segments);
    if (result.found === 'nothing') return refuse(response, 404, 'Not found');
    if (result.found === 'folder') return redirect(response, segments, query.join('?'));
    await send(result, request, response);
}

/**
 * Sends a file. Its ETag is made of its size and the time of its last change, since a build rewrites its files.
 *
 * @param {import('./mounts.js').FoundFile} found
 * @param {import('node:http').IncomingMessage} request
 * @param {import('node:http').ServerResponse} response
 */
async function send({ file, size, modified_ms }, request, response) {
    const etag = `W/"${size.toString(36)}-${Math.round(modified_ms * 1000).toString(36)}"`;
    response.setHeader('ETag', etag);
    if (matches(request.headers['if-none-match'], etag)) return void response.writeHead(304).end();
    response.writeHead(200, { 'Content-Type': mediaType(file), 'Content-Length': size });
    if (request.method === 'HEAD') return void response.end();
    await pipeline(createReadStream(file), response);
}

/**
 * @param {string | undefined} header
 * @param {string} etag
 */
function matches(header, etag) {
    return header?.split(',').some((one) => one.trim() === etag || one.trim() === '*') ?? false;
}

/**
 * Redirects to the same path with a slash at its end. The address is built from the checked segments, so it cannot
 * begin with two slashes and thereby name another host.
 *
 * @param {import('node:http').ServerResponse} response
 * @param {string[]} segments
 * @param {string} query
 */
function redirect(response, segments, query) {
    const path = segments.map((segment) => `/${encodeURIComponent(segment)}`).join('');
    response.setHeader('Location', `${path}/${query && `?${query}`}`);
    refuse(response, 308, 'Moved');
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {number} status
 * @param {string} reason
 */
function refuse(response, status, reason) {
    response.writeHead(status, { 'Content-Type': 'text/plain; charset=utf-8' });
    response.end(`${status} ${reason}\n`);
}

/**
 * @param {import('node:http').Server} server
 * @param {number} port
 * @returns {Promise<number>} the port on which the server listens
 */
async function listen(server, port) {
    try {
        return await tryListen(server, port);
    } catch (error) {
        const { code } = /** @type {NodeJS.ErrnoException} */ (error);
        if (port === 0 || (code !== 'EADDRINUSE' && code !== 'EACCES')) throw error;
        return tryListen(server, 0);
    }
}

/**
 * @param {import('node:http').Server} server
 * @param {number} port
 * @returns {Promise<number>}
 */
function tryListen(server, port) {
    return new Promise((resolve, reject) => {
        server.once('error', reject);
        server.listen(port, HOST, () => {
            server.off('error', reject);
            resolve(/** @type {import('node:net').AddressInfo} */ (server.address()).port);
        });
    });
}

/**
 * @param {import('node:http').Server} server
 * @returns {Promise<void>}
 */
function close(server) {
    return new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
    });
}
