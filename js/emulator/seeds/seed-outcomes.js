/** The outcomes of an exploration's seeds, in their order, from this thread or from several. */

import { invalid } from '../../common/errors.js';
import { checkInteger } from '../../common/check-arguments.js';
import { compile } from '../../core/module.js';
import { decide } from '../explore.js';
import { SeedThreads } from './seed-threads.js';

/** @typedef {import('../plan.js').Plan} Plan */
/** @typedef {import('../explore.js').Outcome} Outcome */

/** @typedef {{ count: number, module: string, wasm: import('../../core/module.js').WasmSource | undefined }} Threads */

/** The options that no other thread can be given. */
const unsharable = /** @type {const} */ (['setup', 'invariant', 'fakeIndexedDB']);

/**
 * Checks the option `workers`, and the arguments beside it.
 *
 * @param {unknown} workers
 * @param {string | undefined} module the address of the scenario's module
 * @param {Record<string, unknown>} given the scenario, and options of explore()
 * @returns {number | undefined} the number of threads; undefined for none besides this one
 */
export function checkThreads(workers, module, given) {
    if (workers === undefined) return undefined;
    const count = checkInteger('workers', workers, 1, 64);
    if (module === undefined)
        throw invalid('scenario', given.scenario, 'the URL of a module, since workers are asked for');
    for (const name of unsharable) {
        if (given[name] !== undefined)
            throw invalid(
                name,
                given[name],
                'undefined: with workers, export it from the module of the scenario',
            );
    }
    return count;
}

/** The members of a plan that are made in each thread. */
const own = new Set(['glue', 'fakeIndexedDB', 'scenario', 'setup', 'invariant', 'signal', 'hostWaits']);

/**
 * Runs seeds until the caller stops.
 *
 * @param {Plan} plan
 * @param {readonly number[]} seeds
 * @param {{ length: number, threads: Threads | undefined }} options `length`: the assumed number of steps of a run
 * @returns {AsyncGenerator<{ seed: number, outcome: Outcome }>}
 */
export async function* outcomesOf(plan, seeds, { length, threads }) {
    const { signal } = plan;
    if (!threads) {
        for (const seed of seeds) {
            signal?.throwIfAborted();
            yield { seed, outcome: await decide(plan, { seed, length }) };
        }
        return;
    }
    const { count, module, wasm } = threads;
    const task = {
        module,
        length,
        wasm: wasm === undefined ? undefined : await compile(wasm, 'wasm'),
        plan: Object.fromEntries(Object.entries(plan).filter(([name]) => !own.has(name))),
    };
    const running = new SeedThreads(seeds, { count, task, signal });
    try {
        for (const [at, seed] of seeds.entries()) yield { seed, outcome: await running.outcome(at) };
    } finally {
        await running.end();
    }
}
