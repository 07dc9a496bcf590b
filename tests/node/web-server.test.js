/** The static server: its headers, its types, and the files that it must not serve. */

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

import { createServer } from '../../web/server.js';

/** @type {string} */
let base;
/** @type {import('../../web/server.js').Server} */
let server;

/** @param {string} path @param {RequestInit} [init] */
const get = (path, init) => fetch(server.url + path, { redirect: 'manual', ...init });

/**
 * Requests a path as it is. fetch() and URL normalise a path before they send it, but an attacker does not.
 *
 * @param {string} target @param {number} port
 * @returns {Promise<number>} the status
 */
function rawStatus(target, port = server.port) {
    return new Promise((resolve, reject) => {
        let text = '';
        const socket = connect(port, '127.0.0.1');
        socket.on('error', reject);
        socket.on('data', (chunk) => (text += chunk));
        socket.on('close', () => resolve(Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1])));
        socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    });
}

before(async () => {
    base = await mkdtemp(join(tmpdir(), 'tabacus-web-'));
    await mkdir(join(base, 'site/sub'), { recursive: true });
    await mkdir(join(base, 'other'));
    await writeFile(join(base, 'secret.txt'), 'secret');
    await writeFile(join(base, 'site/index.html'), '<!doctype html>home');
    await writeFile(join(base, 'site/sub/index.html'), 'sub');
    await writeFile(join(base, 'site/a b.js'), 'export {};');
    await writeFile(join(base, 'site/core.wasm'), Buffer.from([0, 0x61, 0x73, 0x6d]));
    await writeFile(join(base, 'site/strange'), '?');
    await writeFile(join(base, 'other/o.css'), 'a{}');
    await symlink(join(base, 'secret.txt'), join(base, 'site/leak.txt'));
    const mounts = {
        '/': join(base, 'site'),
        '/other': join(base, 'other'),
        '/sub/one.txt': join(base, 'secret.txt'),
    };
    server = await createServer({ mounts });
});

after(async () => {
    await server.close();
    await rm(base, { recursive: true });
});

describe('headers', () => {
    it('the headers isolate the page and forbid inline scripts and eval', async () => {
        const { headers } = await get('/');
        assert.equal(headers.get('cross-origin-opener-policy'), 'same-origin');
        assert.equal(headers.get('cross-origin-embedder-policy'), 'require-corp');
        assert.equal(headers.get('x-content-type-options'), 'nosniff');
        const csp = headers.get('content-security-policy') ?? '';
        assert.match(csp, /script-src 'self' 'wasm-unsafe-eval'(;|$)/);
        assert.doesNotMatch(csp, /unsafe-inline|'unsafe-eval'/);
    });

    it('a refusal, too, has the headers', async () => {
        const { status, headers } = await get('/nothing');
        assert.equal(status, 404);
        assert.equal(headers.get('cross-origin-embedder-policy'), 'require-corp');
        assert.equal(headers.get('content-type'), 'text/plain; charset=utf-8');
    });

    it('a server with the options for it leaves out isolation and the policy', async () => {
        const plain = await createServer({ root: join(base, 'site'), isolated: false, csp: null });
        const { headers } = await fetch(plain.url);
        await plain.close();
        assert.equal(headers.get('cross-origin-opener-policy'), null);
        assert.equal(headers.get('cross-origin-embedder-policy'), null);
        assert.equal(headers.get('content-security-policy'), null);
    });
});

describe('files', () => {
    for (const [path, type, length] of /** @type {const} */ ([
        ['/', 'text/html; charset=utf-8', 19],
        ['/sub/', 'text/html; charset=utf-8', 3],
        ['/a%20b.js?v=1', 'text/javascript; charset=utf-8', 10],
        ['/core.wasm', 'application/wasm', 4],
        ['/strange', 'application/octet-stream', 1],
        ['/other/o.css', 'text/css; charset=utf-8', 3],
        ['/sub/one.txt', 'text/plain; charset=utf-8', 6],
    ])) {
        it(`${path} is served as ${type}`, async () => {
            const response = await get(path);
            assert.equal(response.status, 200);
            assert.equal(response.headers.get('content-type'), type);
            assert.equal((await response.arrayBuffer()).byteLength, length);
        });
    }

    it('the answer to HEAD has the headers and no body', async () => {
        const response = await get('/', { method: 'HEAD' });
        assert.equal(response.status, 200);
        assert.equal(response.headers.get('content-length'), '19');
        assert.equal(await response.text(), '');
    });

    it('an unchanged file is not sent again, and a changed one is', async () => {
        const etag = (await get('/strange')).headers.get('etag') ?? '';
        const again = () => get('/strange', { headers: { 'If-None-Match': etag } });
        assert.equal((await again()).status, 304);
        await utimes(join(base, 'site/strange'), 1, 1);
        assert.equal((await again()).status, 200);
    });

    it('the address of a folder without its slash is redirected to the one with it, with its query', async () => {
        const response = await get('/sub?a=1');
        assert.equal(response.status, 308);
        assert.equal(response.headers.get('location'), '/sub/?a=1');
    });

    it('other methods are refused', async () => {
        const response = await get('/', { method: 'POST', body: 'x' });
        assert.equal(response.status, 405);
        assert.equal(response.headers.get('allow'), 'GET, HEAD');
    });
});

describe('files outside of the mounts', () => {
    for (const target of [
        '/../secret.txt',
        '/sub/../../secret.txt',
        '/%2e%2e/secret.txt',
        '/..%2fsecret.txt',
        '/..%5csecret.txt',
        '/sub/..',
        '/%00',
        '/%',
        '//127.0.0.1/secret.txt',
        'http://127.0.0.1/secret.txt',
        '*',
    ]) {
        it(`${target} is a bad request`, async () => {
            assert.equal(await rawStatus(target), 400);
        });
    }

    for (const target of ['/leak.txt', '/core.wasm/', '/core.wasm/x', '/otherwise/o.css']) {
        it(`${target} is not found`, async () => assert.equal(await rawStatus(target), 404));
    }
});

describe('a handler', () => {
    it('a handler answers its address and all addresses below it, by any method, under the same policy', async () => {
        /** @type {import('../../web/server.js').Handler} */
        const echo = async ({ method }, response, path) => void response.end(`${method} ${path}`);
        const broken = () => Promise.reject(new Error('broken'));
        const own = await createServer({
            root: join(base, 'site'),
            handlers: { '/echo': echo, '/broken': broken },
        });
        const asked = await fetch(`${own.url}/echo/a%20b?c=d`, { method: 'POST' });
        assert.equal(await asked.text(), 'POST /a%20b?c=d');
        assert.equal(asked.headers.get('cross-origin-opener-policy'), 'same-origin');
        assert.equal(await (await fetch(`${own.url}/echo`)).text(), 'GET ');
        assert.equal((await fetch(`${own.url}/echoes`)).status, 404);
        await assert.rejects(fetch(`${own.url}/broken`));
        await own.close();
    });
});

describe('the port', () => {
    it('the server takes another port if the configured one is taken', async () => {
        const second = await createServer({ root: base, port: server.port });
        assert.notEqual(second.port, server.port);
        assert.equal((await fetch(`${second.url}/secret.txt`)).status, 200);
        await second.close();
    });

    it('close() frees the port without waiting for idle connections', async () => {
        const first = await createServer({ root: base });
        await (await fetch(`${first.url}/secret.txt`)).text();
        await first.close();
        const second = await createServer({ root: base, port: first.port });
        assert.equal(second.port, first.port);
        await second.close();
    });
});
