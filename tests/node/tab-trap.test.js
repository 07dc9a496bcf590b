/** A program that traps, or has no memory left, ends its engine with an error that names the reason. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { open, TabacusError } from 'tabacus';
import { testOrigin } from './test-origin.js';
import { wasmOf } from './program.js';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/** @param {RegExp} doing */
const internal = (doing) => (/** @type {any} */ error) =>
    error instanceof TabacusError &&
    error.code === 'internal' &&
    error.message.includes(version) &&
    doing.test(error.message);

/** The number that LEB128 encodes at `at`, and the position of its end. @param {Uint8Array} bytes @param {number} at */
function number(bytes, at) {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
        const byte = /** @type {number} */ (bytes[at++]);
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) return { value, at };
    }
}

/**
 * The program with a memory that cannot grow (WebAssembly Core §5.5.8: of the memory section's limits, the maximum
 * becomes the minimum).
 *
 * @param {Uint8Array} program
 */
function withoutGrowth(program = wasmOf('counters')) {
    const bytes = new Uint8Array(program);
    for (let at = 8; at < bytes.length;) {
        const id = bytes[at];
        const size = number(bytes, at + 1);
        if (id !== 5) {
            at = size.at + size.value;
            continue;
        }
        const least = number(bytes, size.at + 2); // after the count of memories, and the flags
        const most = number(bytes, least.at);
        let left = least.value + 16; // pages of 64 KiB
        for (let i = least.at; i < most.at; i++) {
            bytes[i] = (left & 0x7f) | (i < most.at - 1 ? 0x80 : 0);
            left >>= 7;
        }
        return bytes;
    }
    throw new Error('the program has no memory section');
}

async function oneWindow() {
    const origin = await testOrigin();
    return { origin, window: origin.window() };
}

test('if the counters have no memory left, all open calls reject, and the next open() works', async () => {
    const { origin, window } = await oneWindow();
    const wasm = withoutGrowth();
    const [tab, other] = await Promise.all([open({ window, wasm }), open({ window, wasm })]);
    const counter = tab.counter('kept');
    counter.add(5);
    await counter.flush();
    const held = await other.lock('l').acquire();
    const waiting = [tab.lock('l').acquire(), tab.counter('kept').read()];
    for (const one of waiting) one.catch(() => {}); // the second rejects while the test awaits the first
    const values = counter[Symbol.asyncIterator]();
    await values.next();
    const ended = values.next();
    /** @type {string[]} */
    const warnings = [];
    other.addEventListener('warning', ({ detail }) => warnings.push(detail.code));
    assert.throws(
        () => {
            for (let i = 0; ; i++) tab.counter(`${'x'.repeat(100)}${i}`).add(1);
        },
        internal(/tab_counter|count_guarantee|count_increment|tab_event/),
    );
    for (const one of waiting)
        await assert.rejects(one, internal(/tab_counter|count_guarantee|count_increment/));
    assert.equal((await ended).done, true);
    await origin.until(() => held?.held === false);
    await assert.rejects(held?.commit('s', () => {}) ?? Promise.resolve(), internal(/./));
    for (const closed of [tab, other]) {
        assert.throws(() => closed.counter('kept').add(1), { code: 'closed' });
        await assert.rejects(
            closed.lock('l').run(() => {}),
            { code: 'closed' },
        );
        await closed.close();
    }
    assert.throws(() => counter.add(1), { code: 'closed' });
    assert.deepEqual(await origin.heldLocks(), []);
    await origin.until(() => warnings.length > 0);
    assert.deepEqual(warnings, ['internal']);
    const again = await open({ window });
    assert.equal(await again.counter('kept').read(), 5, 'the flushed increments are stored');
    assert.equal(await again.lock('l').run(() => 1), 1);
    await again.close();
});

test('later callers join the engine that a callback opens while another engine of the name fails', async (t) => {
    const { window } = await oneWindow();
    const wasm = withoutGrowth();
    // Handles receive the failure one after another: the callback of the first runs before the last one is closed.
    const [tab] = await Promise.all([open({ window, wasm }), open({ window, wasm })]);
    const held = await tab.lock('l').acquire();
    /** @type {Promise<import('tabacus').Tab> | undefined} */
    let reopening;
    held.signal.addEventListener('abort', () => (reopening = open({ window })));
    assert.throws(() => {
        for (let i = 0; ; i++) tab.counter(`${'x'.repeat(100)}${i}`).add(1);
    }, internal(/./));
    assert.ok(reopening, 'the callback ran while the engine failed');
    const again = await reopening;
    t.after(() => again.close());
    await assert.rejects(open({ window, allowWeaker: true }), { code: 'kind-mismatch' });
});

test('if locks and queues have no memory left, the jobs stay, and another tab runs them', async () => {
    const { window } = await oneWindow();
    const tab = await open({ window, wasm: withoutGrowth() });
    tab.counter('kept').add(2);
    await tab.counter('kept').flush();
    const queue = tab.queue('jobs');
    const first = await queue.enqueue('a');
    const running = tab.lock('l').run(() => new Promise(() => {}));
    await tab.lock('l').query(); // this loads the program of locks
    // Waiting jobs under keys of their own stay in memory until none is left.
    const codes = new Set();
    const payload = 'x'.repeat(10_000);
    for (let batch = 0; !codes.has('internal'); batch++) {
        assert.ok(batch < 1_000, [...codes].join());
        const jobs = Array.from({ length: 100 }, (_, i) => queue.enqueue(payload, { key: `${batch} ${i}` }));
        for (const one of await Promise.allSettled(jobs)) {
            if (one.status === 'rejected') codes.add(one.reason.code);
        }
    }
    await assert.rejects(running, internal(/./));
    await assert.rejects(first.result, internal(/./));
    const again = await open({ window });
    assert.equal(await again.counter('kept').read(), 2);
    /** @type {unknown[]} */
    const ran = [];
    const jobs = again.queue('jobs');
    jobs.handle(({ payload: one }) => void ran.push(one.slice(0, 1)));
    await jobs.onIdle();
    assert.equal(ran[0], 'a');
    await again.close();
});

test('a payload that is too long is refused, and everything else goes on', async () => {
    const { window } = await oneWindow();
    const tab = await open({ window });
    const queue = tab.queue('jobs');
    await assert.rejects(queue.enqueue('x'.repeat(2 ** 25)), { code: 'out-of-memory' });
    await (
        await queue.enqueue('y'.repeat(2 ** 20))
    ).id;
    assert.equal(await tab.lock('l').run(() => 1), 1);
    await tab.close();
});

test('an exception of a callback is reported, and ends no engine', async () => {
    const { window } = await oneWindow();
    const tab = await open({ window });
    const queue = tab.queue('jobs');
    queue.subscribe(() => {});
    queue.handle(() => {
        throw Object.assign(new Error('odd'), { name: 'toString' });
    });
    const { result } = await queue.enqueue(1, { optional: true });
    await assert.rejects(result, { name: 'toString', message: 'odd' });
    assert.equal(await tab.lock('l').run(() => 1), 1);
    await tab.close();
});

test('all rows of the store are read, however many there are', async () => {
    const { window } = await oneWindow();
    const tab = await open({ window });
    const queue = tab.queue('jobs', { concurrency: 4 });
    await Promise.all(['a', 'b', 'c', 'd', 'e'].map((letter) => queue.enqueue(letter.repeat(9e6))));
    assert.equal((await queue.jobs()).length, 5);
    /** @type {string[]} */
    const ran = [];
    queue.handle(({ payload }) => void ran.push(payload[0]));
    await queue.onIdle();
    assert.deepEqual(ran.sort(), ['a', 'b', 'c', 'd', 'e']);
    await tab.close();
});

test('in a window without reportError(), as in Node 20, a trap in an event does not end the process', async () => {
    const { origin, window } = await oneWindow();
    Object.defineProperty(window, 'reportError', { value: undefined });
    const tab = await open({ window, wasm: withoutGrowth() });
    const queue = tab.queue('jobs');
    const codes = new Set();
    for (let batch = 0; !codes.has('internal'); batch++) {
        const jobs = Array.from({ length: 100 }, (_, i) =>
            queue.enqueue('x'.repeat(10_000), { key: `${batch} ${i}` }),
        );
        for (const one of await Promise.allSettled(jobs))
            if (one.status === 'rejected') codes.add(one.reason.code);
    }
    await origin.sleep(1);
    await tab.close();
});

test('with the pieces of tabacus/debug, the stack of a trap has the names of functions', async () => {
    const debug = readFileSync(new URL('../../dist/debug/counters.wasm', import.meta.url));
    const tab = await open({ window: (await oneWindow()).window, wasm: withoutGrowth(debug) });
    assert.throws(
        () => {
            for (let i = 0; ; i++) tab.counter(`${'x'.repeat(100)}${i}`).add(1);
        },
        (/** @type {any} */ { code, cause }) =>
            code === 'internal' && /operator new\(|tabacus::/.test(cause.stack),
    );
});
