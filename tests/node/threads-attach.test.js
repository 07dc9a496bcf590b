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

/**
 * Reads an unsigned number of the binary format (LEB128). Returns it and the offset behind it.
 *
 * @param {Uint8Array} from
 * @param {number} at
 * @returns {[value: number, next: number]}
 */
function unsigned(from, at) {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
        const byte = Number(from[at++]);
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) return [value, at];
    }
}

/** The sections of a module: for each its number and its content. @param {Uint8Array} of */
function sections(of) {
    /** @type {{ number: number, content: Uint8Array }[]} */
    const found = [];
    for (let at = 8; at < of.length;) {
        const number = Number(of[at]);
        const [size, begin] = unsigned(of, at + 1);
        found.push({ number, content: of.subarray(begin, begin + size) });
        at = begin + size;
    }
    return found;
}

/** The bodies of the functions of a module. @param {Uint8Array} of */
function bodies(of) {
    const code = sections(of).find(({ number }) => number === 10)?.content ?? assert.fail('no code');
    const [count, first] = unsigned(code, 0);
    let at = first;
    return Array.from({ length: count }, () => {
        const [size, begin] = unsigned(code, at);
        at = begin + size;
        return code.subarray(begin, at);
    });
}

/** Whether a function has the instruction memory.atomic.wait32. @param {Uint8Array} body */
const sleeps = (body) =>
    body.some((byte, at) => byte === 0xfe && body[at + 1] === 0x01 && body[at + 2] === 0x02);

test('attach.wasm has no table, no start function, no elements and no data', () => {
    const found = sections(bytes).map(({ number }) => number);
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

/** The largest size of a function that only sleeps, in bytes. */
const sleepBytes = 48;

/** How many functions of each program sleep besides park(): two of Emscripten's runtime. */
const OTHERS = { attach: 0, store: 0, threads: 2 };

for (const [name, others] of Object.entries(OTHERS)) {
    test(`the instruction that sleeps stands in a function of its own in ${name}.wasm`, () => {
        const sizes = bodies(readFileSync(new URL(import.meta.resolve(`tabacus/${name}.wasm`))))
            .filter(sleeps)
            .map(({ length }) => length);
        assert.equal(sizes.filter((size) => size <= sleepBytes).length, 1, String(sizes));
        assert.equal(sizes.length, 1 + others, String(sizes));
    });
}

test('a thread that has slept in attach.wasm has its stack pointer again', () => {
    const memory = new WebAssembly.Memory({ initial: 512, maximum: 512, shared: true });
    const { exports } = new WebAssembly.Instance(module, { env: { memory } });
    const ops = /** @type {import('../../js/threads/thread-core.js').AttachExports} */ (
        /** @type {unknown} */ (exports)
    );
    const root = ops.arena_make();
    const stack = ops.agent_enter(root, ops.agent_id(root), 1, 1) + agentFields.end;
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
