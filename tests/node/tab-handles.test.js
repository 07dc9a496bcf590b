/** All calls of open() for one namespace in one context share an engine, and each has a handle of its own. */

import assert from 'node:assert/strict';
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { open, TabacusError } from 'tabacus';
import { testOrigin } from './test-origin.js';
import { wasmOf } from './program.js';

/** @param {string} code */
const failsWith = (code) => (/** @type {any} */ error) =>
    error instanceof TabacusError && error.code === code;

async function oneWindow() {
    const origin = await testOrigin();
    const window = origin.window();
    let opened = 0;
    const factory = window.indexedDB;
    const counted = {
        open: (/** @type {string} */ name, /** @type {number | undefined} */ version) => {
            opened++;
            return factory.open(name, version);
        },
    };
    Object.defineProperty(window, 'indexedDB', { value: counted });
    return { origin, window, opened: () => opened };
}

test('two handles of a namespace are two objects that share one database', async () => {
    const { window, opened } = await oneWindow();
    const [a, b] = await Promise.all([open({ window }), open({ window })]);
    const c = await open({ window });
    assert.equal(new Set([a, b, c]).size, 3);
    assert.equal(opened(), 1);
    a.counter('n').add(1);
    assert.equal(b.counter('n').add(2), 3, 'both handles count in one replica');
    /** @type {number[]} */
    const seen = [];
    c.counter('n').subscribe((value) => seen.push(value));
    a.counter('n').add(4);
    await a.counter('n').flush();
    assert.equal(seen.at(-1), 7);
    const other = await open({ window, namespace: 'other' });
    assert.equal(opened(), 2, 'a namespace has a database of its own');
    assert.equal(other.counter('n').value, 0);
    await Promise.all([a, b, c, other].map((tab) => tab.close()));
});

test('a handle that is closed releases its own locks and handlers, and no others', async () => {
    const { origin, window } = await oneWindow();
    const [a, b] = await Promise.all([open({ window }), open({ window })]);
    a.counter('n').add(1);
    const held = await a.lock('l').acquire();
    const waiting = a.lock('m').run(() => {});
    const kept = await b.lock('m').acquire();
    void waiting.catch(() => {});
    const waits = b.lock('l').acquire();
    /** @type {string[]} */
    const handledBy = [];
    const handlers = { a: a.queue('q', {}), b: b.queue('q', {}) };
    const stop = handlers.a.handle(() => handledBy.push('a'));
    await (
        await handlers.b.enqueue(1)
    ).result;
    stop();
    handlers.a.handle(() => handledBy.push('a'), { kinds: ['k'] });
    await a.close();
    await a.close();
    assert.equal(held.held, false);
    assert.equal((await waits)?.held, true, 'b gets the lock that a held');
    for (const refused of [
        () => a.counter('n'),
        () => a.counter('x', { strategy: 'transactional' }),
        () => a.queue('q'),
    ])
        assert.throws(refused, failsWith('closed'));
    await assert.rejects(
        a.lock('l').run(() => {}),
        failsWith('closed'),
    );
    await assert.rejects(handlers.a.enqueue(1), failsWith('closed'));
    await assert.rejects(a.sequence('s').next(), failsWith('closed'));
    handlers.b.handle(() => handledBy.push('b'));
    await (
        await handlers.b.enqueue(2)
    ).result;
    assert.deepEqual(handledBy, ['a', 'b']);
    assert.equal(await b.counter('n').read(), 1, 'the increments of a are flushed');
    kept?.release();
    await b.close();
    await origin.until(async () => (await origin.heldLocks()).length === 0);
    const again = await open({ window });
    assert.equal(await again.counter('n').read(), 1);
    await again.close();
});

test('a lock that is granted while its handle is being closed is released', async () => {
    const { window } = await oneWindow();
    const [a, b] = await Promise.all([open({ window }), open({ window })]);
    await a.lock('l').run(() => {});
    const asked = a.lock('l').acquire();
    await a.close();
    await assert.rejects(asked, failsWith('closed'));
    assert.equal(await b.lock('l').run(() => 1, { timeout: 1_000 }), 1);
    await b.close();
});

test('options that contradict the running engine are refused with an error that has both values', async () => {
    const { window } = await oneWindow();
    const tab = await open({ window, allowWeaker: true });
    await assert.rejects(open({ window, allowWeaker: false }), (/** @type {any} */ error) => {
        assert.equal(error.code, 'kind-mismatch');
        assert.equal(error.argument, 'allowWeaker');
        assert.match(error.message, /true, not false/);
        return true;
    });
    await assert.rejects(open({ window, timeouts: { open: 500 } }), {
        argument: 'timeouts.open',
        value: 500,
    });
    const second = await open({ window, timeouts: { open: 3_000, slowLock: undefined } });
    tab.semaphore('s', 2);
    assert.throws(() => second.semaphore('s', 3), failsWith('kind-mismatch'));
    tab.queue('q', { limit: 3 });
    second.queue('q');
    assert.throws(() => second.queue('q', { limit: 4 }), failsWith('kind-mismatch'));
    await tab.close();
    await second.close();
    const wasm = wasmOf('counters');
    const strict = await open({ window, wasm });
    await assert.rejects(open({ window, allowWeaker: true }), failsWith('kind-mismatch'));
    await assert.rejects(open({ window, wasm: new Uint8Array(wasm) }), failsWith('kind-mismatch'));
    const same = await open({ window, wasm, allowWeaker: false });
    await Promise.all([strict.close(), same.close()]);
});

test('an engine that could not be opened is not shared', async () => {
    const { window } = await oneWindow();
    const junk = new Uint8Array([1, 2, 3]);
    await Promise.all([
        assert.rejects(open({ window, wasm: junk }), failsWith('invalid-argument')),
        assert.rejects(open({ window, wasm: junk }), failsWith('invalid-argument')),
    ]);
    const tab = await open({ window });
    assert.equal(tab.counter('n').add(1), 1);
    await tab.close();
});

test('two copies of the package in one page behave as two tabs', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'tabacus-copy-'));
    cpSync(new URL('../../dist/node', import.meta.url), folder, { recursive: true });
    /** @type {typeof import('tabacus')} */
    const copy = await import(pathToFileURL(join(folder, 'tabacus.js')).href);
    const { origin, window, opened } = await oneWindow();
    const [a, b] = await Promise.all([open({ window }), copy.open({ window })]);
    assert.equal(opened(), 2);
    a.counter('n').add(1);
    b.counter('n').add(2);
    await Promise.all([a.counter('n').flush(), b.counter('n').flush()]);
    assert.equal(await a.counter('n').read(), 3);
    let inside = 0;
    const enter = async () => {
        assert.equal(++inside, 1);
        await origin.sleep(1);
        inside--;
    };
    await Promise.all([a, b, a, b].map((tab) => tab.lock('l').run(enter)));
    const [queue, other] = [a.queue('q'), b.queue('q')];
    /** @type {unknown[]} */
    const ran = [];
    for (const one of [queue, other]) one.handle(({ payload }) => ran.push(payload));
    const receipts = await Promise.all([1, 2, 3, 4].map((n) => (n % 2 ? queue : other).enqueue(n)));
    await Promise.all(receipts.map(({ result }) => result));
    assert.deepEqual(ran.sort(), [1, 2, 3, 4]);
    await a.close();
    assert.equal(await b.lock('l').run(() => 1), 1);
    await b.close();
    await origin.until(async () => (await origin.heldLocks()).length === 0);
    rmSync(folder, { recursive: true });
});

test('a handle that is closed while its locks are being loaded acquires none', async () => {
    const { window } = await oneWindow();
    const [tab, other] = await Promise.all([open({ window }), open({ window })]);
    const acquiring = tab.lock('l').acquire();
    const refused = assert.rejects(acquiring, failsWith('closed'));
    await tab.close();
    await refused;
    assert.equal(await other.lock('l').run(() => 1), 1);
    await other.close();
});

test('a running engine uses the options wasm and preload of a later open()', async () => {
    const { window } = await oneWindow();
    const first = await open({ window });
    const junk = new Uint8Array([1, 2, 3]);
    const second = await open({ window, wasm: { limits: junk } });
    await assert.rejects(first.sequence('s').next(), failsWith('invalid-argument'));
    await assert.rejects(open({ window, wasm: { limits: wasmOf('limits') } }), failsWith('kind-mismatch'));
    const third = await open({ window, preload: ['queue'] });
    assert.equal((await third.queue('q').enqueue('a')).joined, false);
    await Promise.all([first.close(), second.close(), third.close()]);
});
