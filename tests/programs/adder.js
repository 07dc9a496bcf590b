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
    return async ({ handle, task, barrier }) => {
        try {
            if (handle) {
                shared = await attach(handle);
                post('attached');
            } else {
                passBarrier(barrier);
                await perform(shared, task);
                post('done');
            }
        } catch (error) {
            post(String(error));
        }
    };
}

/**
 * Waits asleep, not spinning: a thread that has spun until the last one came has used up its time slice.
 *
 * @param {Int32Array} barrier how many are missing
 */
function passBarrier(barrier) {
    if (Atomics.sub(barrier, 0, 1) === 1) Atomics.notify(barrier, 0);
    for (let missing; (missing = Atomics.load(barrier, 0)) > 0;) Atomics.wait(barrier, 0, missing);
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
