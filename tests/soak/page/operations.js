/** The operations that the pages of the soak test perform at random, and how often each is chosen. */

import { counters } from './counters.js';
import { holds } from './holds.js';
import { jobs } from './jobs.js';
import { leaders } from './leaders.js';
import { limits } from './limits.js';

/**
 * What an operation is given.
 *
 * @typedef {object} Context
 * @property {import('tabacus').Tab} tab
 * @property {string} op  identifies the operation
 * @property {string} budget  the name of the budget that the page takes from
 * @property {readonly string[]} lacks  as in ../packages.js
 * @property {(below: number) => number} random
 * @property {(event: import('../event-log.js').Event) => Promise<void>} write  appends to the log, as a part of the
 *   operation
 */

/** The longest wait of once() and forget(). */
export const ONCE_TIMEOUT_MS = 6000;

/** The number of keys of `once`, each of which keeps one value until it is forgotten. */
const ONCE_KEYS = 4;
const HOUR_MS = 3_600_000;

/** @param {Context} context */
const onceKey = ({ random }) => `once-${random(ONCE_KEYS)}`;

const singleFlights = {
    /** @param {Context} context */
    async once(context) {
        const key = onceKey(context);
        await context.write({ type: 'once-begin', key });
        const value = await context.tab.once(key, () => context.op, {
            ttl: HOUR_MS,
            timeout: ONCE_TIMEOUT_MS,
        });
        return { key, value };
    },

    /** @param {Context} context */
    async forget(context) {
        const key = onceKey(context);
        await context.write({ type: 'forget-begin', key });
        await context.tab.forget(key, { timeout: ONCE_TIMEOUT_MS });
        return { key };
    },
};

/** @type {Record<string, (context: Context) => Promise<object | void>>} */
const operations = { ...counters, ...holds, ...leaders, ...limits, ...jobs, ...singleFlights };

/**
 * How often an operation is chosen, in relation to the others. `lead` has a loop of its own in each page.
 *
 * @type {Record<string, number>}
 */
const WEIGHTS = {
    count: 6,
    readCounter: 3,
    lock: 5,
    sharedLock: 2,
    lockAll: 2,
    semaphore: 3,
    callLeader: 3,
    sequence: 3,
    budget: 3,
    rateLimit: 2,
    enqueue: 5,
    enqueueKeyed: 3,
    enqueueOnce: 2,
    once: 3,
    forget: 1,
};

/** The kinds of operations that are chosen at random. */
export const LOOP_KINDS = Object.keys(WEIGHTS);

/**
 * A function that chooses a kind at random.
 *
 * @param {readonly string[]} lacks  the kinds that it does not choose
 * @returns {(random: (below: number) => number) => string}
 */
export function randomKind(lacks) {
    const lots = Object.entries(WEIGHTS).flatMap(([kind, weight]) =>
        lacks.includes(kind) ? [] : Array(weight).fill(kind),
    );
    return (random) => lots[random(lots.length)];
}

/**
 * Performs an operation, and writes its beginning and its end.
 *
 * @param {string} kind
 * @param {Context} context
 */
export async function perform(kind, context) {
    const { write } = context;
    await write({ type: 'begin', kind });
    const since_ms = performance.now();
    const waited_ms = () => Math.round(performance.now() - since_ms);
    try {
        const result = (await operations[kind]?.(context)) ?? {};
        await write({ type: 'end', kind, ok: true, ...result, waited_ms: waited_ms() });
    } catch (error) {
        const { code, name, message } = /** @type {any} */ (error);
        const failure = { code: typeof code === 'string' ? code : name, message: String(message) };
        await write({ type: 'end', kind, ok: false, ...failure, waited_ms: waited_ms() });
    }
}
