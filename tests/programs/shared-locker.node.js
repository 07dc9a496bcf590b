/** A worker that does with shared locks what its page asks for, one call at a time. */

import { parentPort } from 'node:worker_threads';
import { attach } from 'tabacus/worker';

const port = /** @type {import('node:worker_threads').MessagePort} */ (parentPort);

/** @type {import('tabacus/worker').AttachedMemory} */
let shared;

/** Adds to an unsynchronised counter under a reader-writer lock. @param {{ name: string, adds: number }} task */
function write({ name, adds }) {
    const counter = shared.counter(`${name} counter`, { kind: 'unsynchronised' });
    const lock = shared.rwLock(name);
    let torn = 0;
    for (let i = 0; i < adds; i++) {
        lock.lockExclusive(i % 2 === 0 ? undefined : { timeout: 600_000 });
        counter.add();
        lock.unlockExclusive();
        lock.lockShared();
        if (counter.value !== counter.value) torn++;
        lock.unlockShared();
    }
    return torn;
}

/**
 * Counts the threads that are inside a semaphore at once, and returns the most.
 *
 * @param {{ name: string, permits: number, rounds: number }} task
 */
function enter({ name, permits, rounds }) {
    const inside = shared.counter(`${name} inside`);
    const semaphore = shared.semaphore(name, permits);
    let most = 0;
    for (let i = 0; i < rounds; i++) {
        semaphore.acquire();
        most = Math.max(most, inside.add());
        inside.add(-1);
        semaphore.release();
    }
    return most;
}

/**
 * Passes a barrier many times, and returns how often a party was missing.
 *
 * @param {{ name: string, parties: number, rounds: number }} task
 */
function meet({ name, parties, rounds }) {
    const arrived = shared.counter(`${name} arrived`);
    const barrier = shared.barrier(name, parties);
    let early = 0;
    for (let round = 1; round <= rounds; round++) {
        arrived.add();
        barrier.arriveAndWait();
        if (arrived.value < round * parties) early++;
    }
    return early;
}

/** @type {Record<string, (task: any) => unknown>} */
const calls = {
    write,
    enter,
    meet,
    lockShared: ({ name }) => shared.rwLock(name).lockShared(),
    lockExclusive: ({ name }) => shared.rwLock(name).lockExclusive(),
    acquire: ({ name, permits, n }) => {
        for (let i = 0; i < n; i++) shared.semaphore(name, permits).acquire();
    },
    release: ({ name, permits, n }) => shared.semaphore(name, permits).release(n),
    join: ({ name, parties }) => shared.barrier(name, parties).join(),
    arrive: ({ name, parties }) => shared.barrier(name, parties).arriveAndWait(),
};

port.on('message', async ({ handle, call, task }) => {
    try {
        if (handle) shared = await attach(handle);
        port.postMessage({ result: handle ? 'attached' : calls[call]?.(task) });
    } catch (error) {
        port.postMessage({ error: String(error) });
    }
});
