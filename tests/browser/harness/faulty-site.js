/** The built package behind a server that fails on request, for pages with policies of their own. */

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { join } from 'node:path';

import { ISOLATION, STRICT_CSP } from '../../../web/headers.js';
import { mediaType } from '../../../web/media-types.js';
import { DIST } from './site.js';

/**
 * `other`: another wasm file. `silent`: no answer before the next call of `fail()`.
 * @typedef {'404' | 'html' | 'dropped' | 'untyped' | 'junk' | 'other' | 'silent'} Fault
 */

/** @typedef {{ csp: string, files: RegExp | undefined, fault: Fault, waiting: (() => void)[] }} PageState */

/** A script that collects uncaught errors. It runs before all others. */
const watch = `globalThis.uncaught = [];
addEventListener('error', ({ message }) => uncaught.push(String(message)));
addEventListener('unhandledrejection', ({ reason }) => uncaught.push(String(reason)));`;

/**
 * A page with an address of its own for each of its files. It shares nothing with other pages but the origin.
 *
 * @typedef {object} FaultyPage
 * @property {string} url
 * @property {string} package  the address of tabacus.js
 * @property {(files: RegExp | undefined, fault?: Fault) => void} fail  makes matching files fail from this call on
 */

export async function serveFaultySite() {
    /** @type {Map<string, PageState>} */
    const pages = new Map();
    const server = createServer((request, response) => {
        const [, page = '', ...path] = (request.url ?? '').split('/');
        answer(pages.get(page), path.join('/'), response).catch(() => response.destroy());
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    return {
        /**
         * @param {(csp: string) => string} [policy]  changes the strict policy
         * @returns {FaultyPage}
         */
        page(policy = (csp) => csp) {
            const name = `p${pages.size}`;
            /** @type {PageState} */
            const state = { csp: policy(STRICT_CSP), files: undefined, fault: '404', waiting: [] };
            pages.set(name, state);
            const base = `http://127.0.0.1:${port}/${name}`;
            return {
                url: `${base}/`,
                package: `${base}/tabacus.js`,
                fail: (files, fault = '404') => {
                    Object.assign(state, { files, fault });
                    for (const goOn of state.waiting.splice(0)) goOn();
                },
            };
        },
        close: () =>
            new Promise((resolve) => {
                server.close(() => resolve(undefined));
                server.closeAllConnections();
            }),
    };
}

/**
 * @param {PageState | undefined} page
 * @param {string} path
 * @param {import('node:http').ServerResponse} response
 */
async function answer(page, path, response) {
    if (!page) return void response.writeHead(404).end();
    for (const [name, value] of Object.entries(ISOLATION)) response.setHeader(name, value);
    response.setHeader('Content-Security-Policy', page.csp);
    response.setHeader('Cache-Control', 'no-store');
    if (path === '') return send(response, 'text/html', '<!doctype html><script src="watch.js"></script>');
    if (path === 'watch.js') return send(response, 'text/javascript', watch);
    if (page.files?.test(path)) {
        if (page.fault !== 'silent') return fail(page.fault, path, response);
        await new Promise((resolve) => page.waiting.push(() => resolve(undefined)));
    }
    send(response, mediaType(path), await readFile(join(DIST, 'web', path)));
}

/**
 * @param {Fault} fault
 * @param {string} path
 * @param {import('node:http').ServerResponse} response
 */
async function fail(fault, path, response) {
    if (fault === 'dropped') return void response.destroy();
    if (fault === 'html') return send(response, 'text/html', '<!doctype html><title>Welcome</title>');
    if (fault === 'junk') return send(response, mediaType(path), 'junk');
    if (fault === 'other')
        return send(response, mediaType(path), await readFile(join(DIST, 'web', 'store.wasm')));
    if (fault === 'untyped')
        return send(response, 'application/octet-stream', await readFile(join(DIST, 'web', path)));
    response.writeHead(404, { 'Content-Type': 'text/plain' }).end('not found');
}

/**
 * @param {import('node:http').ServerResponse} response
 * @param {string} type
 * @param {string | Buffer} body
 */
const send = (response, type, body) => void response.writeHead(200, { 'Content-Type': type }).end(body);
