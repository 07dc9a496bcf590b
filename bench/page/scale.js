/** A tab that measures how the costs of locks, counters and queues grow with the tabs, names and jobs beside them. */

// @ts-ignore: served by the benchmarks' server
import { open } from '/dist/web/tabacus.js';
import { countersOf } from './scale-counters.js';
import { locksOf } from './scale-locks.js';
import { jobsOf } from './scale-queue.js';

/** The functions of `bench`. @type {Record<string, (...args: any[]) => unknown>} */
const bench = {};

/** Opens a namespace. Returns the milliseconds that this takes. @param {string} namespace */
async function start(namespace) {
    const began_ms = performance.now();
    const tab = await open({ namespace });
    const took_ms = performance.now() - began_ms;
    Object.assign(bench, locksOf(tab), countersOf(tab), jobsOf(tab));
    return took_ms;
}

/** The call that begin() made: its result or error once it has ended. @type {{ value?: unknown, error?: string } | undefined} */
let ended;

/**
 * Begins a call that may take longer than the driver of a browser waits.
 *
 * @param {string} name @param {unknown[]} args
 */
function begin(name, args) {
    ended = undefined;
    const call = async () => bench[name]?.(...args);
    call().then(
        (value) => (ended = { value }),
        (error) => (ended = { error: String(error?.stack ?? error) }),
    );
}

const outcome = () => ended;

Object.assign(bench, { start, begin, outcome });
Object.assign(globalThis, { bench });
