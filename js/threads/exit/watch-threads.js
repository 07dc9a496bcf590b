/** The page's part in the reports of deaths: it watches for the exits of the threads that have attached. */

import { agentFields, arenaFields, unwatchedClaim } from '../arena-layout.js';
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
    /** The watched threads by their claims, each with a function that ends the watch. @type {Map<number, () => void>} */
    let watched = new Map();
    while (!core.closed) {
        const seen = Atomics.load(core.words, joined);
        const here = new Map();
        for (const [, claim] of claimed(core)) {
            if (!here.has(claim)) here.set(claim, watched.get(claim) ?? watch(core, livenessPrefix, claim));
        }
        for (const [claim, unwatch] of watched) if (!here.has(claim)) unwatch();
        watched = here;
        await sleepAsync(core.words, joined, seen, Infinity, core.ending);
    }
    for (const unwatch of watched.values()) unwatch();
}

/**
 * Iterates over the slots of other threads that can be watched: for each its address and its claim.
 *
 * @param {import('../thread-core.js').ThreadCore} core
 * @returns {Generator<[agent: number, claim: number]>}
 */
function* claimed({ words, root, agent: first }) {
    const used = Atomics.load(words, (root + arenaFields.agentsUsed) >> 2);
    for (let index = 1; index < used; index++) {
        const agent = first + index * agentFields.end;
        const claim = Atomics.load(words, (agent + agentFields.claim) >> 2);
        if (claim !== 0 && claim !== unwatchedClaim) yield [agent, claim];
    }
}

/**
 * Watches a thread for its exit, and reports it. One thread may have several slots.
 *
 * @param {import('../thread-core.js').ThreadCore} core
 * @param {string} livenessPrefix
 * @param {number} claim of the thread: the platform's number, or the number of its liveness lock
 * @returns {() => void} stops watching
 */
function watch(core, livenessPrefix, claim) {
    const reportExit = () => {
        if (core.closed) return;
        for (const [agent, other] of claimed(core))
            if (other === claim) core.ops.agent_exited(core.root, agent, core.id);
    };
    return (
        /** @type {(...given: any[]) => (() => void) | void} */ (watchExit)(
            livenessPrefix,
            claim,
            reportExit,
            claim,
        ) ?? (() => {})
    );
}
