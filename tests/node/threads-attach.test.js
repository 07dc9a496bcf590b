/**
 * The sections of attach.wasm. The module is instantiated over memory that other threads use, and a data segment or a
 * start function would write into it.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { agentFields, rwModes } from '../../js/threads/arena-layout.js';

const bytes = readFileSync(new URL(import.meta.resolve('tabacus/attach.wasm')));
const module = new WebAssembly.Module(bytes);

/** The numbers of sections in the binary format. */
const sectionNames = new Map([
    [4, 'table'],
    [8, 'start'],
    [9, 'element'],
    [11, 'data'],
]);

/** The numbers of the module's sections. */
function sections() {
    const numbers = [];
    for (let at = 8; at < bytes.length;) {
        numbers.push(Number(bytes[at++]));
        let size = 0;
        for (let shift = 0; ; shift += 7) {
            const byte = Number(bytes[at++]);
            size |= (byte & 0x7f) << shift;
            if (byte < 0x80) break;
        }
        at += size;
    }
    return numbers;
}

test('attach.wasm has no table, no start function, no elements and no data', () => {
    const found = sections();
    assert.ok(found.includes(10), 'the parser finds the code');
    assert.deepEqual(
        found.flatMap((number) => sectionNames.get(number) ?? []),
        [],
    );
});

test('attach.wasm imports the memory, and nothing else', () => {
    assert.deepEqual(WebAssembly.Module.imports(module), [{ module: 'env', name: 'memory', kind: 'memory' }]);
});

test('attach.wasm exports its stack pointer, which is 0 and traps until it is set', () => {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 256, shared: true });
    const { exports } = new WebAssembly.Instance(module, { env: { memory } });
    const stackPointer = /** @type {WebAssembly.Global} */ (exports.__stack_pointer);
    assert.equal(stackPointer.value, 0);
});

test('instantiating attach.wasm leaves the memory as it was', () => {
    const memory = new WebAssembly.Memory({ initial: 1, maximum: 256, shared: true });
    const view = new Uint8Array(memory.buffer).fill(0xa5);
    assert.ok(new WebAssembly.Instance(module, { env: { memory } }));
    assert.ok(view.every((byte) => byte === 0xa5));
});

test('a thread that has slept in attach.wasm has its stack pointer again', () => {
    const memory = new WebAssembly.Memory({ initial: 512, maximum: 512, shared: true });
    const { exports } = new WebAssembly.Instance(module, { env: { memory } });
    const ops = /** @type {import('../../js/threads/thread-core.js').AttachExports} */ (
        /** @type {unknown} */ (exports)
    );
    const root = ops.arena_make();
    const stack = ops.agent_enter(root, 1) + agentFields.end;
    ops.__stack_pointer.value = stack;
    const [semaphore, rwLock] = [root + (16 << 20), root + (17 << 20)]; // in memory that the arena has not used yet
    ops.semaphore_begin(semaphore, 1);
    for (const owner of [2, 3]) {
        // The second thread sleeps, because the first one has the permit and the lock.
        const blocks = owner === 2 ? 0 : 2;
        const permit = ops.semaphore_request(semaphore, owner, blocks);
        assert.equal(ops.__stack_pointer.value, stack);
        ops.semaphore_settle(semaphore, owner, permit, 1);
        const hold = ops.rw_request(rwLock, owner, rwModes.exclusive, blocks);
        assert.equal(ops.__stack_pointer.value, stack);
        ops.rw_settle(rwLock, owner, hold, 1);
    }
});
