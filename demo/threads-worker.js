/**
 * One of the four Workers. It attaches to the page's memory, and adds on request. It loads two kilobytes of the
 * package, and no runtime of Emscripten.
 */

import { attach } from './package-worker.js';

/** @typedef {Awaited<ReturnType<typeof attach>>} Shared */

/** @type {Promise<Shared>} */
let attached;

addEventListener('message', async ({ data }) => {
    if (data.handle) attached = attach(data.handle);
    const shared = await attached;
    if (data.counter) hammer(shared.counter(data.counter), data);
    postMessage('done');
});

/**
 * @param {ReturnType<Shared['counter']>} counter
 * @param {{ adds: number, amount: number, barrier: Int32Array<SharedArrayBuffer> }} work
 */
function hammer(counter, { adds, amount, barrier }) {
    startTogether(barrier);
    for (let i = 0; i < adds; i += 1) counter.add(amount);
}

/**
 * Waits until all Workers have come here. Without this, each Worker would end before the next one begins, and nothing
 * would race. A Worker spins, since waking it from a sleep takes longer than all its increments.
 *
 * @param {Int32Array<SharedArrayBuffer>} barrier  the number of Workers that have not come yet
 */
function startTogether(barrier) {
    Atomics.sub(barrier, 0, 1);
    while (Atomics.load(barrier, 0) > 0);
}
