/**
 * The Atomics article's program: four workers increment one counter 100,000 times each, and then decrement
 * it as often. It runs on every platform that has workers; the caller starts them.
 */

import { addersAll } from './adders.js';

/** @typedef {import('tabacus/threads').CounterKind} CounterKind */

export const articleWorkers = 4;
export const articleAdds = 100_000;

/** @type {readonly CounterKind[]} */
export const exactKinds = ['atomic', 'mutexed', 'striped'];

/**
 * Runs the program once.
 *
 * @param {import('tabacus/worker').AttachedMemory} shared
 * @param {import('./adders.js').Adder[]} adders one for each worker, attached
 * @param {CounterKind} kind
 * @param {string} [name]
 * @returns {Promise<{ up: number, down: number }>} how far the counter is from its first value after all
 *   increments, and after as many decrements: 400,000 and 0 if it is exact
 */
export async function article(shared, adders, kind, name = `article ${kind}`) {
    const counter = shared.counter(name, { kind });
    const before = counter.value;
    await addersAll(adders, { name, kind, n: 1, adds: articleAdds });
    const up = counter.value - before;
    await addersAll(adders, { name, kind, n: -1, adds: articleAdds });
    return { up, down: counter.value - before };
}

/**
 * Runs the program on the unsynchronised counter until updates are lost, at most `triesMax` times.
 *
 * @param {import('tabacus/worker').AttachedMemory} shared
 * @param {import('./adders.js').Adder[]} adders
 * @param {number} triesMax
 * @returns {Promise<{ tries: number, up: number, down: number } | undefined>} undefined if no update was lost
 */
export async function articleLoses(shared, adders, triesMax) {
    for (let tries = 1; tries <= triesMax; tries++) {
        const seen = await article(shared, adders, 'unsynchronised');
        if (seen.up !== articleWorkers * articleAdds || seen.down !== 0) return { tries, ...seen };
    }
    return undefined;
}
