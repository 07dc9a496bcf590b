/** open() allocates memory that no other thread shares, and that grows. Only threads() makes shared memory. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { open } from 'tabacus';
import { threads } from 'tabacus/threads';
import { testOrigin } from './test-origin.js';

/** A description of each place that has made memory that threads share. @type {string[]} */
const shared = [];
/** The size of the memory of each program when it starts, in bytes. @type {number[]} */
const started_bytes = [];

const { Memory, instantiate } = WebAssembly;
const Buffers = SharedArrayBuffer;

/** @param {WebAssembly.Memory} memory */
function look({ buffer }) {
    started_bytes.push(buffer.byteLength);
    if (buffer instanceof Buffers) shared.push('the memory of a program');
}

before(() => {
    WebAssembly.Memory = class extends Memory {
        /** @param {WebAssembly.MemoryDescriptor} descriptor */
        constructor(descriptor) {
            super(descriptor);
            if (descriptor.shared) shared.push('WebAssembly.Memory');
        }
    };
    globalThis.SharedArrayBuffer = new Proxy(Buffers, {
        construct(target, args, newTarget) {
            shared.push('SharedArrayBuffer');
            return Reflect.construct(target, args, newTarget);
        },
    });
    WebAssembly.instantiate = /** @type {any} */ (
        async (/** @type {any} */ source, /** @type {any} */ imports) => {
            const made = /** @type {any} */ (await instantiate(source, imports));
            const { exports } = made.instance ?? made;
            for (const value of Object.values(exports)) if (value instanceof Memory) look(value);
            return made;
        }
    );
});

after(() => {
    Object.assign(WebAssembly, { Memory, instantiate });
    globalThis.SharedArrayBuffer = Buffers;
});

test('open(), a counter and a lock take no memory that threads share', async () => {
    const tab = await open({ window: (await testOrigin()).window() });
    const counter = tab.counter('c');
    counter.add(2);
    await counter.flush();
    assert.equal(await counter.read(), 2);
    assert.equal(await tab.lock('l').run(() => 'held'), 'held');
    await tab.close();
    assert.deepEqual(shared, []);
    assert.ok(started_bytes.length > 0, 'the test must have seen the memory of a program');
    for (const bytes of started_bytes) assert.ok(bytes <= 2 ** 21, `${bytes} bytes`);
});

test('threads() takes memory that threads share, and this test sees it', async () => {
    (await threads()).close();
    assert.ok(shared.includes('WebAssembly.Memory'));
});
