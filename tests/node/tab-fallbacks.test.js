/** Tabs on platforms that lack or refuse the database, localStorage, locks or channels. */

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { open } from 'tabacus';
import { nextMacrotask } from '../../js/common/macrotask.js';
import { testOrigin } from './test-origin.js';
import { failsWith } from './expected-errors.js';
import { wasmOf } from './program.js';

test('if localStorage is refused or full, only the backup is missing', async () => {
    const origin = await testOrigin();
    const window = origin.window();
    Object.defineProperty(window, 'localStorage', {
        get: () => {
            throw new DOMException('cookies are blocked', 'SecurityError');
        },
    });
    const tab = await open({ window });
    assert.equal(tab.capabilities.mirror, false);
    tab.counter('c').add(1);
    await tab.close();
    origin.emulated.setQuota(0);
    const full = await open({ window: origin.window() });
    full.counter('c').add(1);
    await full.counter('c').flush();
    assert.equal(await full.counter('c').read(), 2);
    await full.close();
});

test('without IndexedDB the slots are in localStorage, and the capabilities show it', async () => {
    const origin = await testOrigin();
    const refused = {
        open: () => {
            throw new DOMException('not in this mode', 'InvalidStateError');
        },
    };
    for (const indexedDB of [undefined, refused]) {
        const tab = await open({ window: origin.window({ indexedDB }) });
        assert.equal(tab.capabilities.store, 'localstorage');
        assert.equal(tab.capabilities.durability, 'relaxed');
        assert.throws(() => tab.counter('c', { durability: 'strict' }), failsWith('weaker-guarantee'));
        assert.throws(() => tab.counter('c', { strategy: 'transactional' }), failsWith('unavailable'));
        tab.counter('c').add(3);
        await tab.close();
    }
    const reader = await open({ window: origin.window({ indexedDB: undefined }) });
    assert.equal(await reader.counter('c').read(), 6);
    await reader.close();
});

test('open() loads storage.wasm where there is no IndexedDB, and nowhere else', async (t) => {
    const requests = { count: 0, status: 503 };
    const server = createServer((_request, response) => {
        ++requests.count;
        response.writeHead(requests.status, { 'Content-Type': 'application/wasm' }).end(wasmOf('storage'));
    });
    await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)));
    t.after(() => {
        server.close();
        server.closeAllConnections();
    });
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    const wasm = { storage: new URL(`http://127.0.0.1:${port}/storage.wasm`) };
    const origin = await testOrigin();

    const stored = await open({ window: origin.window(), wasm });
    stored.counter('c').add(1);
    await stored.close();
    assert.equal(requests.count, 0);

    const window = origin.window({ indexedDB: undefined });
    await assert.rejects(open({ window, wasm }), failsWith('unavailable'));
    requests.status = 200;
    window.dispatchEvent(new Event('online')); // a tab that has failed retries nothing
    await nextMacrotask();
    assert.equal(requests.count, 1);
    const tab = await open({ window, wasm });
    assert.equal(tab.capabilities.store, 'localstorage');
    tab.counter('d').add(3);
    await tab.counter('d').flush();
    assert.equal(await tab.counter('d').read(), 3);
    assert.equal(requests.count, 2);
    await tab.close();
});

test('two tabs are exact without locks or a channel', async () => {
    const origin = await testOrigin();
    const without = { navigator: {}, BroadcastChannel: undefined };
    const a = await open({ window: origin.window(without) });
    const b = await open({ window: origin.window(without) });
    assert.equal(a.capabilities.exclusion, 'lease');
    assert.equal(a.capabilities.channel, false);
    for (let i = 0; i < 50; i++) {
        a.counter('c').add(1);
        b.counter('c').add(1);
    }
    await Promise.all([a.counter('c').flush(), b.counter('c').flush()]);
    assert.equal(await a.counter('c').read(), 100);
    await a.close();
    await b.close();
});

test('a tab goes on without a database that cannot be opened, and warns', async () => {
    const refusing = () => {
        throw new DOMException('not here', 'SecurityError');
    };
    const origin = await testOrigin();
    const tab = await open({ window: origin.window({ indexedDB: { open: refusing } }) });
    assert.equal(tab.capabilities.store, 'localstorage');
    /** @type {string[]} */
    const codes = [];
    tab.addEventListener('warning', ({ detail }) => codes.push(detail.code));
    await origin.until(() => codes.length > 0);
    assert.deepEqual(codes, ['degraded']);
    await tab.close();
});

test('a tab whose user blocks site data has neither a database nor locks, unless weaker ones are allowed', async () => {
    const refusing = () => {
        throw new DOMException('The operation is insecure.', 'SecurityError');
    };
    /** Refuses as Chromium does: by an event, and not by a SecurityError. */
    const denying = () => {
        /** @type {any} */
        const request = { error: new DOMException('The user denied permission.', 'UnknownError') };
        queueMicrotask(() => request.onerror?.({ preventDefault: () => {}, target: request }));
        return request;
    };
    const cases = [refusing, denying].flatMap((open) => [
        { open, allowWeaker: false },
        { open, allowWeaker: true },
    ]);
    for (const { open: openDatabase, allowWeaker } of cases) {
        const origin = await testOrigin();
        const window = origin.window({ indexedDB: { open: openDatabase } });
        origin.pageOf(window).refuseLocks();
        Object.defineProperty(window, 'localStorage', { get: refusing });
        const tab = await open({ window, allowWeaker });
        assert.deepEqual([tab.capabilities.store, tab.capabilities.exclusion], ['memory', 'none']);
        const asked = {
            lock: () => tab.lock('l').run(() => 1),
            sequence: () => tab.sequence('s').next(),
            once: () => tab.once('o', () => 1),
        };
        const codes = [];
        for (const ask of Object.values(asked)) codes.push(await ask().catch(({ code }) => code));
        assert.deepEqual(codes, allowWeaker ? [1, 1, 'unavailable'] : Array(3).fill('weaker-guarantee'));
        await assert.rejects(tab.queue('q').enqueue(1), failsWith('unavailable'));
        await tab.close();
    }
});

test('a tab goes on although its database never opens, and counts in memory', async () => {
    const origin = await testOrigin();
    const window = origin.window();
    origin.emulated.breakDatabase(origin.pageOf(window), 'hang-open');
    const tab = await open({ window });
    assert.deepEqual([tab.capabilities.store, tab.capabilities.opening], ['indexeddb', true]);
    assert.equal(tab.counter('c').add(2), 2);
    await assert.rejects(tab.close(), { code: 'store-failed' });
});
