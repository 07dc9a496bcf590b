/** The page's part in the reports of deaths: it watches for the exits of the threads that have attached. */

import { agentFields, arenaFields } from '../arena-layout.js';
import { sleepAsync } from '../waiting.js';
import { watchExit } from './worker-exit.web.js';

/**
 * Watches for the exits of all threads of a memory, and reports them to its objects, until this thread's
 * attachment is closed. Requires that this thread has made the memory, so that its agent is the first one.
 *
 * @param {import('../thread-core.js').ThreadCore} core
 * @param {string} livenessPrefix
 */
export async function watchThreads(core, livenessPrefix) {
    const joined = (core.root + arenaFields.joined) >> 2;
    /** The watched threads, each with a function that ends the watch. @type {Map<number, () => void>} */
    let watched = new Map();
    while (!core.closed) {
        const seen = Atomics.load(core.words, joined);
        const here = new Map();
        for (const [id, thread] of announced(core))
            here.set(id, watched.get(id) ?? watch(core, livenessPrefix, id, thread));
        for (const [id, unwatch] of watched) if (!here.has(id)) unwatch();
        watched = here;
        await sleepAsync(core.words, joined, seen, Infinity, core.ending);
    }
    for (const unwatch of watched.values()) unwatch();
}

/**
 * Iterates over the other threads that can be watched: for each its id and the platform's number.
 *
 * @param {import('../thread-core.js').ThreadCore} core
 * @returns {Generator<[number, number]>}
 */
function* announced({ words, root, agent: first }) {
    const used = Atomics.load(words, (root + arenaFields.agentsUsed) >> 2);
    for (let index = 1; index < used; index++) {
        const agent = first + index * agentFields.end;
        const id = Atomics.load(words, (agent + agentFields.id) >> 2);
        if (id !== 0 && Atomics.load(words, (agent + agentFields.announced) >> 2) === id)
            yield [id, Atomics.load(words, (agent + agentFields.thread) >> 2)];
    }
}

/**
 * Watches a thread for its exit, and reports it.
 *
 * @param {import('../thread-core.js').ThreadCore} core
 * @param {string} livenessPrefix
 * @param {number} id
 * @param {number} thread the platform's number of the thread
 * @returns {() => void} stops watching
 */
function watch(core, livenessPrefix, id, thread) {
    const reportDeath = () => {
        if (!core.closed) core.ops.agent_died(core.root, id, core.id);
    };
    return (
        /** @type {(...given: any[]) => (() => void) | void} */ (watchExit)(
            livenessPrefix,
            id,
            reportDeath,
            thread,
        ) ?? (() => {})
    );
}
