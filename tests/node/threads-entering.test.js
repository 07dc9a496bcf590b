/** Threads that are terminated while they attach: their slots are given back. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { TabacusError, threads } from 'tabacus/threads';
import { attach } from 'tabacus/worker';
import { agentFields } from '../../js/threads/arena-layout.js';

/** @typedef {Awaited<ReturnType<typeof threads>>} Memory */

/** The steps of attach() at which the Worker stops. */
const STEPS = [
    'before it has an id',
    'with an id',
    'with a claim, before it has stored its id',
    'with a slot, before it has announced itself',
    'attached',
];

/** A Worker that attaches, stops at a step, and reports that. */
const PROGRAM = `
    const { parentPort, workerData: { handle, step, worker, idAt } } = require('node:worker_threads');
    const words = new Int32Array(handle.memory.buffer);
    const reach = (at) => {
        if (at !== step) return;
        parentPort.postMessage(at);
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
    };
    const { instantiate } = WebAssembly;
    WebAssembly.instantiate = async (module, imports) => {
        const { exports } = await instantiate(module, imports);
        reach('before it has an id');
        return { exports: { ...exports, agent_enter: (...given) => {
            reach('with an id');
            const agent = exports.agent_enter(...given);
            if (step === 'with a claim, before it has stored its id') words[(agent + idAt) >> 2] = 0;
            reach('with a claim, before it has stored its id');
            reach('with a slot, before it has announced itself');
            return agent;
        } } };
    };
    import(worker).then(async ({ attach }) => {
        globalThis.shared = await attach(handle);
        reach('attached');
    });
`;

/** Starts a Worker, and terminates it at a step of attach(). @param {Memory} memory @param {string} step */
async function terminateAt(memory, step) {
    const worker = new Worker(PROGRAM, {
        eval: true,
        workerData: {
            handle: memory.handle,
            step,
            worker: import.meta.resolve('tabacus/worker'),
            idAt: agentFields.id,
        },
    });
    const [reached] = await once(worker, 'message');
    assert.equal(reached, step);
    await worker.terminate();
}

/** Attaches, and tries again some times if there is no slot. @param {Memory} memory */
async function attachSoon(memory) {
    for (let tries = 0; ; tries++) {
        try {
            return await attach(memory.handle);
        } catch (error) {
            assert.ok(error instanceof TabacusError && error.code === 'out-of-memory', String(error));
            assert.ok(tries < 10, 'the slot of a terminated thread stays occupied');
            await new Promise((resolve) => setImmediate(resolve));
        }
    }
}

test('a Worker that is terminated at any step of attach() leaves its slot to others', async () => {
    const memory = await threads();
    // All slots but one are occupied.
    for (let i = 0; i < 253; i++) await attach(memory.handle);
    for (const step of STEPS) {
        await terminateAt(memory, step);
        (await attachSoon(memory)).close();
    }
    memory.close();
});
