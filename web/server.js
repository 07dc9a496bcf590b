/**
 * A static server that sends the isolation headers: for the demo, for the tests and for anyone who
 * wants to try threads on a page of their own. It reads files, answers GET and HEAD, listens on
 * this machine alone, and does nothing else but pass on what is below an address with a handler.
 * The command line is web/serve.js.
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
 * @property {Record<string, string | URL>} [mounts]  address → folder or file, beside `root`
 * @property {Record<string, Handler>} [handlers]  address → what answers it and all below it
 * @property {boolean} [isolated]  send COOP and COEP (the default), or be a host that cannot
 * @property {string | null} [csp]  another content security policy, or null for none
 * @property {number} [port]  0, the default, for any free one; a taken port gives way to a free one
 */

/**
 * Answers requests of any method. The policy's headers are set already.
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
 * @property {() => Promise<void>} close  ends open connections too
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
 * The size and the time of the last change stand for the content: a build rewrites its files.
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
 * The address is built again from the checked segments, so it cannot begin with two slashes and
 * name another host.
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
 * @returns {Promise<number>} the port it has
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
