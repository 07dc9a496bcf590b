/** Shrinks the schedule of a failing run to the simplest one that fails in the same way. */

import { runOnce } from '../explore.js';
import { sameFailure } from './failure.js';

/** @typedef {import('../plan.js').Plan} Plan */
/** @typedef {import('../explore.js').Outcome} Outcome */

/**
 * Simplifies a failing schedule by delta debugging (Zeller and Hildebrandt 2002), as the laboratory's shrink.hpp
 * does: chunks of choices, and then single choices, are replaced by the default one or removed, as long as the run
 * fails in the same way.
 *
 * @param {Plan} plan
 * @param {number} seed
 * @param {Outcome} failing
 * @param {number} runsMax
 * @returns {Promise<Outcome | undefined>} undefined if the failure does not repeat
 */
export async function shrink(plan, seed, failing, runsMax) {
    const shrinking = { best: failing, runsLeft: runsMax };
    if (!sameFailure(await runOnce(plan, { seed, schedule: failing.schedule }), failing)) return undefined;
    const better = async (/** @type {number[]} */ schedule) => {
        if (shrinking.runsLeft-- <= 0) return false;
        const outcome = await runOnce(plan, { seed, schedule });
        if (!sameFailure(outcome, failing) || weight(outcome.schedule) >= weight(shrinking.best.schedule))
            return false;
        shrinking.best = outcome;
        return true;
    };
    for (
        let size = failing.schedule.length;
        size >= 1 && shrinking.runsLeft > 0;
        size = Math.floor(size / 2)
    ) {
        for (let at = 0; at < shrinking.best.schedule.length && shrinking.runsLeft > 0;) {
            const { schedule } = shrinking.best;
            const defaults = [
                ...schedule.slice(0, at),
                ...schedule.slice(at, at + size).fill(0),
                ...schedule.slice(at + size),
            ];
            const shorter = [...schedule.slice(0, at), ...schedule.slice(at + size)];
            const changes = schedule.slice(at, at + size).some((index) => index > 0);
            if (!((changes && (await better(defaults))) || (await better(shorter)))) at += size;
        }
    }
    return shrinking.best;
}

/**
 * Orders schedules by how complex they are: first by their departures from the default schedule, then by their length.
 *
 * @param {readonly number[]} schedule
 */
const weight = (schedule) => schedule.filter((index) => index > 0).length * 1e6 + schedule.length;
