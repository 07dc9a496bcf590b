/** A module that failed to load is loaded again, and handlers and listeners that were registered meanwhile begin. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { open } from 'tabacus';
import { Lazy } from '../../js/common/lazy.js';
import { Retries } from '../../js/common/retries.js';
import { testOrigin } from './test-origin.js';

const wasm = readFileSync(new URL('../../dist/node/locks.wasm', import.meta.url));

/** A page as an event target with a document. */
class Page extends EventTarget {
    document = Object.assign(new EventTarget(), { visibilityState: 'visible' });
}

/** The options of a test that waits for ever if the code is wrong. */
const hangs = { timeout: 60_000 };

/** A server of locks.wasm that is down until `up` is set. */
async function serve() {
    const state = { up: false, address: new URL('http://localhost'), close: () => {} };
    const server = createServer((_request, response) => {
        if (state.up) response.writeHead(200, { 'Content-Type': 'application/wasm' }).end(wasm);
        else response.writeHead(503).end();
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    state.address = new URL(`http://127.0.0.1:${port}/locks.wasm`);
    state.close = () => {
        server.close();
        server.closeAllConnections();
    };
    return state;
}

test('a value that failed to load is loaded by the next get(), and what waits for it begins once', async () => {
    let loads = 0;
    /** @type {(() => void)[]} */
    const again = [];
    const lazy = new Lazy(
        async () => {
            if (++loads < 3) throw new TypeError('gone');
            return 'loaded';
        },
        (retry) => again.push(retry),
    );
    /** @type {string[]} */
    const begun = [];
    await assert.rejects(lazy.get(), { code: 'unavailable', message: /\(gone\): call again/ });
    lazy.whenLoaded(() => begun.push('first'));
    lazy.whenLoaded(() => begun.push('withdrawn'))();
    await assert.rejects(lazy.get(), { code: 'unavailable' });
    assert.deepEqual([begun, again.length], [[], 2]);
    again[0]?.();
    assert.equal(await lazy.get(), 'loaded');
    lazy.whenLoaded(() => begun.push('too late: it is loaded'));
    await lazy.get();
    assert.deepEqual([begun, loads], [['first'], 3]);
});

test('a failed load is retried once when the device is online or the page is visible', () => {
    const page = new Page();
    const retries = new Retries(page);
    let calls = 0;
    const again = () => ++calls;
    page.dispatchEvent(new Event('online'));
    retries.add(again);
    retries.add(again);
    page.document.visibilityState = 'hidden';
    page.document.dispatchEvent(new Event('visibilitychange'));
    assert.equal(calls, 0);
    page.document.visibilityState = 'visible';
    page.document.dispatchEvent(new Event('visibilitychange'));
    page.dispatchEvent(new Event('online'));
    assert.equal(calls, 1);
    retries.add(again);
    page.dispatchEvent(new Event('online'));
    assert.equal(calls, 2);
    retries.add(again);
    retries.end();
    retries.add(again);
    page.dispatchEvent(new Event('online'));
    assert.equal(calls, 2);
    new Retries({}).add(again); // a platform without events
});

test(
    'handlers, listeners and counters that were made while their program could not be loaded begin once it is loaded',
    hangs,
    async (t) => {
        const server = await serve();
        t.after(server.close);
        const origin = await testOrigin();
        const window = origin.window();
        const tab = await open({ window, wasm: { locks: server.address } });
        t.after(() => tab.close());
        /** @type {import('tabacus').WarningDetail[]} */
        const warnings = [];
        tab.addEventListener('warning', ({ detail }) => warnings.push(detail));
        /** @type {unknown[]} */
        const seen = [];
        tab.queue('pages').handle(({ payload }) => `done ${payload}`);
        const withdraw = tab.queue('pages').subscribe(() => seen.push('withdrawn'));
        tab.lock('door').subscribe((requests) => seen.push(requests.length));
        tab.counter('orders', { strategy: 'transactional' }).subscribe((value) => seen.push(value));
        await origin.until(() => warnings.length === 3);
        assert.deepEqual(warnings.map(({ subject }) => subject).sort(), ['door', 'pages', 'pages']);
        for (const { code, message, subject } of warnings) {
            assert.equal(code, 'unavailable');
            assert.match(message, /^the option wasm\.locks could not be loaded from http.*503/);
            assert.ok(message.includes(`what was registered with ${subject} begins once`));
        }
        await assert.rejects(tab.lock('door').query(), { code: 'unavailable' });
        withdraw();

        server.up = true;
        const other = await open({ window: origin.window() });
        t.after(() => other.close());
        const receipt = await other.queue('pages').enqueue(1);
        window.dispatchEvent(new Event('online'));
        assert.equal(await receipt.result, 'done 1'); // the handler that waited ran the job, since there is no other
        await other.counter('orders', { strategy: 'transactional' }).add(3);
        await origin.until(() => seen.includes(3));
        assert.deepEqual(
            [...new Set(seen)].sort(), // the counter's value before it was loaded, and the holders of the lock
            [0, 3],
        );
        assert.deepEqual(origin.errors, []);
    },
);

test('a closed tab retries nothing', async (t) => {
    const server = await serve();
    t.after(server.close);
    const window = (await testOrigin()).window();
    /** The number of listeners for `online`. */
    let listening = 0;
    for (const [method, by] of /** @type {const} */ ([
        ['addEventListener', 1],
        ['removeEventListener', -1],
    ])) {
        const native = window[method];
        window[method] = (/** @type {string} */ type, /** @type {any[]} */ ...rest) => {
            if (type === 'online') listening += by;
            return Reflect.apply(native, window, [type, ...rest]);
        };
    }
    const tab = await open({ window, wasm: { locks: server.address } });
    await assert.rejects(tab.lock('door').query(), { code: 'unavailable' });
    assert.equal(listening, 1);
    await tab.close();
    assert.equal(listening, 0);
});
