/** The order in which a thread attaches in a browser, with the files for browsers and made-up Web Locks. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { agentFields, arenaFields } from '../../js/threads/arena-layout.js';

/** @typedef {import('tabacus/threads').ThreadsMemory} Memory */

/** Web Locks of which only exclusive requests are used. */
class FakeLocks {
    /** The requests for each name; the first one holds the lock. @type {Map<string, (() => unknown)[]>} */
    queues = new Map();

    /** @param {string} name @param {() => unknown} hold */
    async request(name, hold) {
        const queue = this.queues.get(name) ?? [];
        this.queues.set(name, queue);
        await /** @type {Promise<void>} */ (
            new Promise((granted) => {
                queue.push(granted);
                if (queue.length === 1) granted();
            })
        );
        await hold();
        queue.shift();
        queue[0]?.();
    }
}

/** The claims of the slots of other threads than the page. @param {Memory} memory */
function claims({ handle: { memory, root } }) {
    const words = new Int32Array(memory.buffer);
    const used = Number(words[(root + arenaFields.agentsUsed) >> 2]);
    const first = words.indexOf(-1); // the page claims its slot by a number that nobody watches
    return Array.from({ length: used - 1 }, (_, index) => {
        const agent = (first << 2) - agentFields.claim + (index + 1) * agentFields.end;
        return words[(agent + agentFields.claim) >> 2];
    });
}

test('in a browser, a thread holds its liveness lock before it takes a slot', async (t) => {
    const locks = new FakeLocks();
    const { instantiate } = WebAssembly;
    const navigator = Object.getOwnPropertyDescriptor(globalThis, 'navigator');
    Object.defineProperty(globalThis, 'navigator', { value: { locks }, configurable: true });
    t.after(() => {
        WebAssembly.instantiate = instantiate;
        if (navigator) Object.defineProperty(globalThis, 'navigator', navigator);
        else Reflect.deleteProperty(globalThis, 'navigator');
    });
    const web = new URL('../../dist/web/', import.meta.url);
    /** @type {[typeof import('tabacus/threads'), typeof import('tabacus/worker')]} */
    const [page, worker] = await Promise.all([
        import(`${web}tabacus-threads.js`),
        import(`${web}tabacus-worker.js`),
    ]);
    const attachWasm = new WebAssembly.Module(readFileSync(new URL('attach.wasm', web)));
    const memory = await page.threads({ attachWasm });
    const words = new Int32Array(memory.handle.memory.buffer);

    let entered = 0;
    WebAssembly.instantiate = /** @type {any} */ (
        async (/** @type {any} */ module, /** @type {any} */ imports) => {
            const { exports } = /** @type {any} */ (await instantiate(module, imports));
            /** @param {number} root @param {number} id @param {number[]} rest */
            const enter = (root, id, ...rest) => {
                assert.equal(locks.queues.get(`${memory.handle.livenessPrefix}/${id}`)?.length, 1);
                entered++;
                const agent = exports.agent_enter(root, id, ...rest);
                words[(agent + agentFields.id) >> 2] = 0;
                throw new Error('terminated as it enters');
            };
            return { exports: { ...exports, agent_enter: enter } };
        }
    );
    await assert.rejects(worker.attach(memory.handle), /terminated as it enters/);
    assert.equal(entered, 1);
    for (let turn = 0; turn < 10 && claims(memory)[0] !== 0; turn++) {
        await new Promise((resolve) => setImmediate(resolve));
    }
    assert.deepEqual(claims(memory), [0]);
    memory.close();
});
