/**
 * One of the four workers: attaches to the page's memory and adds on request. It loads two kilobytes
 * of the package, and no Emscripten runtime.
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
 * A worker would be through before the next one has begun, and nothing would race. So the first ones
 * turn on the spot until the last one comes: to wake from a sleep takes longer than all the adding.
 *
 * @param {Int32Array<SharedArrayBuffer>} barrier  how many are still to come
 */
function startTogether(barrier) {
    Atomics.sub(barrier, 0, 1);
    while (Atomics.load(barrier, 0) > 0);
}
