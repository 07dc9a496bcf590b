/**
 * A small identity provider for the example of docs/locks.md and its test. Access tokens are short-lived, and refresh
 * tokens rotate. If an old refresh token comes back, its family of tokens is revoked (RFC 9700, OAuth 2.0 Security
 * Best Current Practice, §4.14.2).
 *
 *     POST /login                      → { access, refresh }
 *     POST /refresh { refresh }        → { access, refresh }; 401 if the token is unknown or reused
 *     GET  /resource, Authorization: Bearer <access> → 200, or 401
 *     GET  /log                        → the counts of what has happened
 *     POST /expire                     ends all access tokens
 *
 * A refresh token is accepted once more if its successor has never been used: the client may have crashed before it
 * received the answer. The successor becomes invalid.
 */

import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

/** @typedef {{ revoked: boolean, refreshes: number }} Family */
/** @typedef {{ family: Family, successor?: string }} RefreshToken */

const HOST = '127.0.0.1';
const bodyBytesMax = 4096;

export class TokenServer {
    /** @type {Map<string, Family>} */
    #access = new Map();

    /** @type {Map<string, RefreshToken>} */
    #refresh = new Map();

    /** The counts of what has happened, for tests and for the page. */
    log = { expiries: 0, refreshes: 0, retries: 0, revoked: 0, served: 0, refused: 0 };

    /** Is called after each refresh, before it is answered. @type {() => Promise<void>} */
    beforeAnswer = async () => {};

    /** Ends all access tokens. */
    expireAll() {
        this.#access.clear();
        this.log.expiries++;
    }

    login() {
        return this.#give({ revoked: false, refreshes: 0 });
    }

    /** @param {string} token @returns {{ access: string, refresh: string } | null} */
    refresh(token) {
        const known = this.#refresh.get(token);
        if (!known || known.family.revoked) return null;
        const successor = known.successor === undefined ? undefined : this.#refresh.get(known.successor);
        if (known.successor !== undefined && (!successor || successor.successor !== undefined)) {
            known.family.revoked = true;
            this.log.revoked++;
            return null;
        }
        if (known.successor === undefined) this.log.refreshes++;
        else {
            this.#refresh.delete(known.successor);
            this.log.retries++;
        }
        const given = this.#give(known.family);
        known.successor = given.refresh;
        return given;
    }

    /** @param {string} access */
    serve(access) {
        const family = this.#access.get(access);
        const good = family !== undefined && !family.revoked;
        this.log[good ? 'served' : 'refused']++;
        return good;
    }

    /** @param {Family} family */
    #give(family) {
        const given = { access: randomUUID(), refresh: randomUUID() };
        this.#access.set(given.access, family);
        this.#refresh.set(given.refresh, { family });
        return given;
    }
}

/**
 * The handler of a token server, for the option `handlers` of web/server.js.
 *
 * @param {TokenServer} tokens
 * @returns {import('./server.js').Handler}
 */
export const tokenHandler = (tokens) => async (request, response, path) => {
    const { status, body } = await answer(tokens, request, path);
    response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' });
    response.end(JSON.stringify(body));
};

/**
 * @param {TokenServer} tokens
 * @param {number} [port] 0 for any free one
 * @returns {Promise<{ url: string, close: () => Promise<void> }>}
 */
export async function listen(tokens, port = 0) {
    const handle = tokenHandler(tokens);
    const server = createServer((request, response) => {
        handle(request, response, request.url ?? '').catch(() => response.destroy());
    });
    await new Promise((resolve) => server.listen(port, HOST, () => resolve(undefined)));
    const address = /** @type {import('node:net').AddressInfo} */ (server.address());
    const close = () =>
        new Promise((resolve) => {
            server.close(() => resolve(undefined));
            server.closeAllConnections();
        });
    return { url: `http://${HOST}:${address.port}`, close: () => close().then(() => {}) };
}

/**
 * @param {TokenServer} tokens
 * @param {import('node:http').IncomingMessage} request
 * @param {string} path
 * @returns {Promise<{ status: number, body: unknown }>}
 */
async function answer(tokens, request, path) {
    switch (`${request.method} ${path}`) {
        case 'POST /login':
            return { status: 200, body: tokens.login() };
        case 'POST /refresh': {
            const given = tokens.refresh(await refreshTokenOf(request));
            await tokens.beforeAnswer();
            return given ? { status: 200, body: given } : { status: 401, body: { error: 'invalid_grant' } };
        }
        case 'GET /resource': {
            const access = request.headers.authorization?.replace(/^Bearer /, '') ?? '';
            return tokens.serve(access)
                ? { status: 200, body: {} }
                : { status: 401, body: { error: 'invalid_token' } };
        }
        case 'GET /log':
            return { status: 200, body: tokens.log };
        case 'POST /expire':
            tokens.expireAll();
            return { status: 200, body: tokens.log };
        default:
            return { status: 404, body: { error: 'not_found' } };
    }
}

/** @param {import('node:http').IncomingMessage} request */
async function refreshTokenOf(request) {
    let text = '';
    for await (const chunk of request) {
        text += chunk;
        if (text.length > bodyBytesMax) return '';
    }
    try {
        return String(JSON.parse(text)?.refresh);
    } catch {
        return '';
    }
}
