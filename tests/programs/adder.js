/** What an adder does: the worker's side of adders.js. */

/** @typedef {import('tabacus/worker').AttachedMemory} AttachedMemory */

/**
 * @param {(handle: any) => Promise<AttachedMemory>} attach
 * @param {(message: unknown) => void} post
 * @returns {(message: any) => Promise<void>} to be called with each message
 */
export function adder(attach, post) {
    /** @type {AttachedMemory} */
    let shared;
    return async ({ handle, task, gate }) => {
        try {
            if (handle) {
                shared = await attach(handle);
                post('attached');
            } else {
                passGate(gate);
                await perform(shared, task);
                post('done');
            }
        } catch (error) {
            post(String(error));
        }
    };
}

/**
 * Asleep, not spinning: who has spun for the last one to come has used up its turn on the processor.
 *
 * @param {Int32Array} gate how many are missing
 */
function passGate(gate) {
    if (Atomics.sub(gate, 0, 1) === 1) Atomics.notify(gate, 0);
    for (let missing; (missing = Atomics.load(gate, 0)) > 0;) Atomics.wait(gate, 0, missing);
}

/**
 * @param {AttachedMemory} shared
 * @param {import('./adders.js').AddTask} task
 */
async function perform(shared, { name, kind, n, adds, mutex }) {
    const counter = shared.counter(name, { kind });
    if (!mutex) {
        for (let i = 0; i < adds; i++) counter.add(n);
        return;
    }
    const lock = shared.mutex(mutex.name);
    for (let i = 0; i < adds; i++) {
        if (mutex.how === 'lockAsync') {
            const held = await lock.lockAsync();
            counter.add(n);
            held.unlock();
        } else {
            lock.lock(mutex.how === 'timed' ? { timeout: 600_000 } : undefined);
            counter.add(n);
            lock.unlock();
        }
    }
}
