/** The worker's side of adders.js: attaches to a shared memory and adds on demand. */

/** @typedef {import('tabacus/worker').AttachedMemory} AttachedMemory */

/**
 * @param {(handle: any) => Promise<AttachedMemory>} attach
 * @param {(message: unknown) => void} post
 * @returns {(message: any) => Promise<void>} a function to call with each message
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
 * Waits until all adders have come. It sleeps instead of spinning, because a thread that spins until the
 * last one comes has used up its time slice.
 *
 * @param {Int32Array} barrier the number of adders that are missing
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
