/** Threads, their memory and its counters: names, kinds, limits, wrong input, attaching and closing. */

import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { before, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { TabacusError, TabacusRangeError, threads } from 'tabacus/threads';
import { attach } from 'tabacus/worker';

/** @type {import('tabacus/threads').ThreadsMemory} */
let shared;

before(async () => {
    shared = await threads();
});

/** @type {readonly import('tabacus/threads').CounterKind[]} */
const kinds = ['atomic', 'mutexed', 'striped', 'unsynchronised'];
const most = Number.MAX_SAFE_INTEGER;

/**
 * @param {string} code
 * @param {string} [argument]
 */
const withCode = (code, argument) => (/** @type {any} */ error) => {
    assert.ok(error instanceof TabacusError, String(error));
    assert.equal(error.code, code);
    assert.equal(error.argument, argument);
    return true;
};

/** Values that are no integers of 64 bits and, except '1', no names. */
const strange = [
    null,
    true,
    '1',
    '',
    {},
    [],
    () => {},
    Symbol('s'),
    NaN,
    Infinity,
    0.5,
    2 ** 53,
    10n ** 1000n,
];

for (const kind of kinds) {
    test(`a counter of the kind ${kind} adds and returns its value`, () => {
        const counter = shared.counter(`adds ${kind}`, { kind });
        assert.equal(counter.add(), 1);
        assert.equal(counter.add(41), 42);
        assert.equal(counter.add(-50), -8);
        assert.equal(counter.add(-0), -8);
        counter.bump();
        counter.bump(7);
        assert.equal(counter.value, 0);
        assert.ok(Object.is(counter.value, 0));
        assert.equal(counter.kind, kind);
        assert.equal(counter.guarantee.strategy, kind);
        assert.ok(Object.isFrozen(counter.guarantee));
    });

    test(`a counter of the kind ${kind} refuses an add beyond ±(2^53−1), and does not change`, () => {
        for (const sign of [1, -1]) {
            const counter = shared.counter(`limits ${kind} ${sign}`, { kind });
            assert.equal(counter.add(sign * most), sign * most);
            for (const add of [() => counter.add(sign), () => counter.bump(sign * most)]) {
                assert.throws(add, (error) => {
                    assert.ok(error instanceof RangeError && error instanceof TabacusRangeError);
                    return withCode('out-of-range', 'n')(error);
                });
            }
            assert.equal(counter.value, sign * most);
            assert.equal(counter.add(-sign), sign * (most - 1));
        }
    });

    test(`a counter of the kind ${kind} adds bigints exactly over 64 bits`, () => {
        const counter = shared.counter(`bigint ${kind}`, { kind });
        assert.equal(counter.addBigInt(2n ** 63n - 1n), 2n ** 63n - 1n);
        assert.throws(() => counter.addBigInt(), withCode('out-of-range', 'n'));
        assert.equal(counter.valueBigInt, 2n ** 63n - 1n);
        assert.throws(() => counter.value, withCode('out-of-range'));
        assert.throws(() => counter.add(-1), withCode('out-of-range', 'n'));
        assert.equal(counter.addBigInt(-(2n ** 63n)), -1n);
        assert.equal(counter.addBigInt(-(2n ** 63n - 1n)), -(2n ** 63n));
        assert.throws(() => counter.addBigInt(-1n), withCode('out-of-range', 'n'));
        assert.equal(counter.addBigInt(2n ** 62n), -(2n ** 62n));
    });

    test(`a counter of the kind ${kind} refuses wrong input, and does not change`, () => {
        const counter = shared.counter(`bad ${kind}`, { kind });
        for (const n of /** @type {any[]} */ (strange)) {
            assert.throws(() => counter.add(n), withCode('invalid-argument', 'n'));
            assert.throws(() => counter.bump(n), withCode('invalid-argument', 'n'));
        }
        for (const n of /** @type {any[]} */ ([...strange, 1, 2n ** 63n, -(2n ** 63n) - 1n])) {
            assert.throws(() => counter.addBigInt(n), withCode('invalid-argument', 'n'));
        }
        assert.equal(counter.value, 0);
    });
}

test('a wrong argument of an add after an overflow is reported as such, and not as an overflow', () => {
    const counter = shared.counter('both');
    counter.add(most);
    assert.throws(() => counter.add(1), withCode('out-of-range', 'n'));
    assert.throws(() => counter.add(0.5), withCode('invalid-argument', 'n'));
});

test('one name means one counter in every thread', async () => {
    const other = await attach(shared.handle);
    const counter = shared.counter('one name');
    assert.equal(shared.counter('one name'), counter);
    counter.add(3);
    assert.equal(other.counter('one name').add(4), 7);
    assert.equal(counter.value, 7);
    assert.equal(other.counter('made there', { kind: 'striped' }).add(2), 2);
    assert.equal(shared.counter('made there').kind, 'striped');
    assert.equal(shared.counter('made there').value, 2);
});

test('names are compared by their code units', () => {
    const names = ['é', 'e\u0301', 'a', 'A', 'a ', '\0', '\0\0', '💧', 'x'.repeat(128)];
    names.forEach((name, index) => shared.counter(name).add(index + 1));
    assert.deepEqual(
        names.map((name) => shared.counter(name).value),
        names.map((_, index) => index + 1),
    );
});

test('wrong names and options are refused', () => {
    for (const name of /** @type {any[]} */ ([...strange, undefined, 'x'.repeat(129), '\ud800', 'x\udc00'])) {
        if (name === '1') continue;
        assert.throws(() => shared.counter(name), withCode('invalid-argument', 'name'));
        assert.throws(() => shared.mutex(name), withCode('invalid-argument', 'name'));
    }
    for (const kind of /** @type {any[]} */ ([...strange, 'mutex', 'Atomic', 'toString'])) {
        assert.throws(() => shared.counter('k', { kind }), withCode('invalid-argument', 'kind'));
    }
    const options = /** @type {any} */ ({ knid: 'atomic' });
    assert.throws(() => shared.counter('k', options), withCode('invalid-argument', 'options.knid'));
    assert.throws(
        () => shared.counter('k', /** @type {any} */ (null)),
        withCode('invalid-argument', 'options'),
    );
});

test('a name keeps its kind', async () => {
    shared.counter('kept', { kind: 'striped' });
    const other = await attach(shared.handle);
    for (const memory of [shared, other]) {
        assert.throws(
            () => memory.counter('kept', { kind: 'atomic' }),
            (error) => {
                assert.match(String(error), /striped.*atomic/);
                return withCode('kind-mismatch', 'kind')(error);
            },
        );
        assert.throws(() => memory.mutex('kept'), withCode('kind-mismatch', 'kind'));
        assert.equal(memory.counter('kept').kind, 'striped');
    }
    shared.mutex('kept mutex');
    for (const memory of [shared, other]) {
        assert.throws(() => memory.counter('kept mutex'), withCode('kind-mismatch', 'kind'));
    }
});

test('wrong arguments of a mutex are refused, and nothing is locked', async () => {
    const lock = shared.mutex('arguments');
    for (const timeout of /** @type {any[]} */ ([
        null,
        true,
        '1',
        {},
        NaN,
        Infinity,
        -1,
        2 ** 31,
        1n,
        Symbol('s'),
    ])) {
        assert.throws(() => lock.lock({ timeout }), withCode('invalid-argument', 'timeout'));
        await assert.rejects(lock.lockAsync({ timeout }), withCode('invalid-argument', 'timeout'));
    }
    for (const signal of /** @type {any[]} */ ([null, {}, 'x', new AbortController()])) {
        await assert.rejects(lock.lockAsync({ signal }), withCode('invalid-argument', 'signal'));
    }
    assert.equal(lock.locked, false);
});

test('a counter that does not fit into the arena is an error, and the others go on', async () => {
    const small = await threads();
    const first = small.counter('0', { kind: 'striped' });
    assert.throws(() => {
        for (let i = 1; i < 10_000; i++) small.counter(String(i), { kind: 'striped' });
    }, withCode('out-of-memory'));
    assert.equal(first.add(), 1);
    assert.equal(small.counter('0').value, 1);
});

test('254 threads attach to an arena full of names, and one more gets an error', async () => {
    const memory = await threads();
    let names = 0;
    assert.throws(() => {
        for (; names < 10_000; names++) memory.counter(String(names));
    }, withCode('out-of-memory'));
    assert.ok(names >= 2_000, `${names} names`);
    const guests = [];
    for (let i = 0; i < 254; i++) guests.push(await attach(memory.handle));
    assert.equal(guests.at(-1)?.counter('7').add(), 1);
    await assert.rejects(attach(memory.handle), (error) => {
        assert.match(String(error), /254/);
        return withCode('out-of-memory')(error);
    });
    guests.pop()?.close();
    assert.equal((await attach(memory.handle)).counter('7').add(), 2);
});

test('the program of C++ threads changes nothing in a full memory when it starts', async () => {
    const memory = await threads();
    const counters = kinds.map((kind) => memory.counter(kind, { kind }));
    for (const [i, counter] of counters.entries()) counter.add(1 + i);
    const mutex = memory.mutex('m');
    mutex.lock();
    assert.throws(() => {
        for (let i = 0; i < 10_000; i++) memory.counter(String(i)).add(1);
    }, withCode('out-of-memory'));
    for (let i = 0; i < 254; i++) await attach(memory.handle);
    const arena = () => new Uint8Array(memory.handle.memory.buffer, 0, 2 ** 21).slice();
    const before = arena();
    await memory.hammer(/** @type {any} */ (counters[0]), { threads: 1, adds: 0 });
    const changed = [...arena().entries()].filter(([at, byte]) => byte !== before[at]);
    assert.ok(changed.length <= 4, `${changed.length} bytes besides the last id that a thread has taken`);
    await Promise.all(
        counters.slice(0, 3).map((counter) => memory.hammer(counter, { threads: 2, adds: 100 })),
    );
    assert.deepEqual(
        counters.map(({ value }) => value),
        [201, 202, 203, 4],
    );
    assert.equal(memory.counter('7').value, 1);
    mutex.unlock();
    memory.close();
});

test('hammer() of a closed memory is the error `closed`', async () => {
    const memory = await threads();
    const counter = memory.counter('c');
    memory.close();
    await assert.rejects(memory.hammer(counter, { threads: 1, adds: 1 }), withCode('closed'));
});

test('hammer() uses its options as they were when it was called, although it loads its program first', async () => {
    const memory = await threads();
    const counter = memory.counter('asked');
    const options = { threads: 1, adds: 3 };
    const hammered = memory.hammer(counter, options);
    options.adds = 5;
    await hammered;
    assert.equal(counter.value, 3);
    memory.close();
});

test('a memory that is closed while hammer() loads starts no thread', async () => {
    const memory = await threads();
    const counter = memory.counter('c');
    const hammered = memory.hammer(counter, { threads: 1, adds: 1 });
    memory.close();
    await assert.rejects(hammered, withCode('closed'));
});

test('memory that the platform refuses is a typed error', async () => {
    const { Memory } = WebAssembly;
    const cause = new RangeError('WebAssembly.Memory(): could not allocate memory');
    WebAssembly.Memory = /** @type {any} */ (
        function () {
            throw cause;
        }
    );
    try {
        await assert.rejects(
            threads(),
            (/** @type {any} */ error) => error.cause === cause && withCode('out-of-memory')(error),
        );
    } finally {
        WebAssembly.Memory = Memory;
    }
});

test('hammer() refuses wrong arguments and counters of another memory, and reports an overflow', async () => {
    const counter = shared.counter('hammered');
    const good = { threads: 1, adds: 1 };
    for (const threads of /** @type {any[]} */ ([...strange, 0, 65])) {
        await assert.rejects(
            shared.hammer(counter, { ...good, threads }),
            withCode('invalid-argument', 'threads'),
        );
    }
    for (const adds of /** @type {any[]} */ ([...strange.filter((x) => x !== 2 ** 53), -1, 2 ** 32])) {
        await assert.rejects(shared.hammer(counter, { ...good, adds }), withCode('invalid-argument', 'adds'));
    }
    const other = (await threads()).counter('hammered');
    for (const wrong of /** @type {any[]} */ ([...strange, other, shared.mutex('m')])) {
        await assert.rejects(shared.hammer(wrong, good), withCode('invalid-argument', 'counter'));
    }
    assert.equal(counter.value, 0);
    counter.add(most - 10);
    await assert.rejects(shared.hammer(counter, { threads: 2, adds: 100 }), withCode('out-of-range'));
    assert.equal(counter.value, most);
});

test('attach() refuses a value that is no handle', async () => {
    const { memory, module, root, version } = shared.handle;
    const alone = new WebAssembly.Memory({ initial: 1 });
    const empty = new WebAssembly.Memory({ initial: 256, maximum: 256, shared: true });
    const stranger = new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]));
    const bad = [
        ...strange,
        undefined,
        { memory, module, root },
        { memory, module, root: root + 4, version },
        { memory, module, root: -128, version },
        { memory, module, root: memory.buffer.byteLength, version },
        { memory, module, root: root + 128, version },
        { memory, module: {}, root, version },
        { memory, module: stranger, root, version },
        { memory: alone, module, root: 128, version },
        { memory: empty, module, root, version },
        { memory, module, root, version: version + 1 },
    ];
    for (const handle of /** @type {any[]} */ (bad)) {
        await assert.rejects(attach(handle), (/** @type {any} */ error) => {
            assert.ok(error instanceof TabacusError, String(error));
            return error.code === 'invalid-argument';
        });
    }
});

test('a worker attaches by a posted handle, and shares the counters of the page', async () => {
    const source = `
        const { parentPort, workerData } = require('node:worker_threads');
        import(${JSON.stringify(import.meta.resolve('tabacus/worker'))}).then(async ({ attach }) => {
            const shared = await attach(workerData);
            shared.counter('posted').add(5);
            shared.mutex('posted mutex').lock();
            parentPort.postMessage('done');
        });`;
    const worker = new Worker(source, { eval: true, workerData: shared.handle });
    await new Promise((resolve, reject) => void worker.on('message', resolve).on('error', reject));
    assert.equal(shared.counter('posted').value, 5);
    assert.equal(shared.mutex('posted mutex').tryLock(), false);
    await worker.terminate();
});

test('every call after close() throws `closed`, and the slot of a closed attachment is used again', async () => {
    const memory = await threads();
    for (let i = 0; i < 1_000; i++) {
        const guest = await attach(memory.handle);
        guest.counter('guests').add();
        guest.close();
    }
    assert.equal(memory.counter('guests').value, 1_000);
    const guest = await attach(memory.handle);
    const [counter, lock] = [guest.counter('guests'), guest.mutex('m')];
    guest.close();
    guest.close();
    const uses = [
        () => counter.add(),
        () => counter.bump(),
        () => counter.value,
        () => counter.addBigInt(),
        () => counter.valueBigInt,
        () => lock.lock(),
        () => lock.tryLock(),
        () => lock.unlock(),
        () => lock.locked,
        () => guest.counter('guests'),
    ];
    for (const use of uses) assert.throws(use, withCode('closed'));
    await assert.rejects(lock.lockAsync(), withCode('closed'));
});

test('close() ends a waiting lockAsync(), and the next waiter gets the mutex', async () => {
    const memory = await threads();
    const guest = await attach(memory.handle);
    const held = await memory.mutex('m').lockAsync();
    const waiting = guest.mutex('m').lockAsync();
    guest.close();
    await assert.rejects(waiting, withCode('closed'));
    const next = memory.mutex('m').lockAsync();
    held.unlock();
    (await next).unlock();
});

test('a lockAsync() that takes a free mutex owns it at once', async () => {
    const memory = await threads();
    const mutex = memory.mutex('m');
    const granting = mutex.lockAsync();
    mutex.unlock();
    const grant = await granting;
    assert.equal(grant.held, false);
    assert.equal(mutex.locked, false);
    const second = await mutex.lockAsync();
    assert.throws(() => grant.unlock(), withCode('not-owner'));
    assert.equal(second.held, true);
    second.unlock();
});

test('threads() refuses a module of another kind, and does not hang', async () => {
    const bytes = (/** @type {string} */ name) =>
        readFile(new URL(import.meta.resolve(`tabacus/${name}.wasm`)));
    for (const name of ['attach', 'counters', 'store']) {
        await assert.rejects(threads({ wasm: await bytes(name) }), withCode('invalid-argument', 'wasm'));
    }
    const empty = new WebAssembly.Module(new Uint8Array([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]));
    await assert.rejects(threads({ wasm: empty }), withCode('invalid-argument', 'wasm'));
    await assert.rejects(
        threads({ attachWasm: await bytes('counters') }),
        withCode('invalid-argument', 'attachWasm'),
    );
    const memory = await threads({ wasm: new URL(import.meta.resolve('tabacus/threads.wasm')) });
    assert.equal(memory.counter('x').add(), 1);
});

test('threads() takes its wasm as bytes and as modules, and refuses anything else', async () => {
    const wasm = await readFile(new URL(import.meta.resolve('tabacus/threads.wasm')));
    const attachWasm = new WebAssembly.Module(
        await readFile(new URL(import.meta.resolve('tabacus/attach.wasm'))),
    );
    const memory = await threads({ wasm, attachWasm });
    assert.equal(memory.counter('x').add(), 1);
    assert.equal((await attach(memory.handle)).counter('x').add(), 2);
    const counter = memory.counter('y');
    await memory.hammer(counter, { threads: 2, adds: 10 });
    assert.equal(counter.value, 20);
    for (const bad of /** @type {any[]} */ ([null, 1, {}, new Uint8Array(3)])) {
        await assert.rejects(threads({ wasm: bad }), withCode('invalid-argument', 'wasm'));
        await assert.rejects(threads({ attachWasm: bad }), withCode('invalid-argument', 'attachWasm'));
    }
    await assert.rejects(
        threads(/** @type {any} */ ({ wsam: wasm })),
        withCode('invalid-argument', 'options.wsam'),
    );
});

test('counters of two memories are independent', async () => {
    const other = await threads();
    shared.counter('mine').add(3);
    assert.equal(other.counter('mine').value, 0);
});
