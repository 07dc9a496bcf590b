/**
 * Runs every schedule of a scenario, if they are few. The search is that of the laboratory
 * (wasm/src/lab/explore/search.hpp): it leaves out schedules that differ only in the order of steps that commute.
 */

import { runOnce } from './explore.js';
import { seesHost } from './verdict/host-watch.web.js';

/** @typedef {import('./plan.js').Plan} Plan */
/** @typedef {import('./explore.js').Outcome} Outcome */

/**
 * The result of the attempt to run every schedule.
 *
 * @typedef {object} Exhausted
 * @property {boolean} proved whether every schedule was run, and none failed
 * @property {string} bound which schedules were run, in words
 * @property {Outcome | undefined} broken the run that failed
 */

/**
 * @typedef {object} Attempt
 * @property {number} seed of the random numbers
 * @property {number} runsMax
 * @property {number} stepsMax the number of steps above which a run is too long, so that nothing is proved
 * @property {boolean} [oneSeed] whether a proof for the random numbers of one seed is enough
 * @property {(outcome: Outcome) => void} onRun is called after each run
 * @property {boolean} [reduces] whether to leave out schedules that differ only in the order of steps that commute
 */

/** The number of steps above which a run is too long if nobody has asked for a proof, since its schedules are many. */
export const unaskedStepsMax = 1000;

/**
 * Runs every schedule without faults, then every schedule with at most one fault, and so on up to the plan's number of
 * faults. Ends at the first run that fails, and once it is known that not every schedule can be run.
 *
 * @param {Plan} plan
 * @param {Attempt} attempt
 * @returns {Promise<Exhausted>}
 */
export async function exhaust(plan, attempt) {
    const total = { runs: 0, opensDatabases: false };
    /** @type {string[]} */
    const levels = [];
    for (let faultBudget = 0; faultBudget <= plan.faultBudget; ++faultBudget) {
        const level = { ...plan, faultBudget, faults: faultBudget === 0 ? [] : plan.faults };
        const before = total.runs;
        const { missing, broken } = await exhaustLevel(level, attempt, total);
        const runs = total.runs - before;
        const what = `every schedule of ${describeLevel(level)}`;
        levels.push(missing ? `not ${what}: ${missing}` : `${what}: ${runs} ${runs === 1 ? 'run' : 'runs'}`);
        if (missing) return { proved: false, bound: levels.join('; '), broken };
    }
    const { stepsMax, seed } = attempt;
    const window = `with a timerWindow of ${plan.timerWindow_ms} ms`;
    const opening = total.opensDatabases ? ', if a database opens in the step that asks for it' : '';
    levels.push(
        `of at most ${stepsMax} steps each, ${window} and the random numbers of seed ${seed}${opening}`,
    );
    return { proved: true, bound: levels.join('; '), broken: undefined };
}

/** @param {Plan} level */
function describeLevel({ tabs, faults, faultBudget }) {
    const of = tabs === 1 ? '1 tab' : `${tabs} tabs`;
    if (faultBudget === 0) return `${of} without faults`;
    return `${of} with at most ${faultBudget} of the faults ${faults.join(', ')}`;
}

/**
 * Runs every schedule of a plan. If the scenario uses what the rules cannot see, any two steps may conflict, and
 * nothing is left out.
 *
 * @param {Plan} plan
 * @param {Attempt} attempt
 * @param {{ runs: number, opensDatabases: boolean }} total
 * @returns {Promise<{ missing: string, broken?: Outcome }>} `missing`: why not every schedule was run; empty if all were
 */
async function exhaustLevel(plan, attempt, total) {
    const { seed, runsMax, stepsMax, onRun, reduces = true } = attempt;
    if (!seesHost && typeof plan.scenario !== 'string') return { missing: unseen };
    const search = new plan.glue.ScheduleSearch(stepsMax, reduces);
    /** @type {Outcome | undefined} */
    let first;
    try {
        while (search.begin()) {
            if (plan.hostWaits.hosted) return { missing: hosted };
            if (total.runs + 1 + search.planned > runsMax)
                return { missing: `they take more than ${runsMax} runs` };
            const outcome = await runOnce(plan, { seed, search });
            ++total.runs;
            total.opensDatabases ||= outcome.opensDatabases;
            onRun(outcome);
            first ??= outcome;
            if (outcome.failure) return { missing: 'one fails', broken: outcome };
            if (outcome.shared && reduces)
                return await exhaustLevel(plan, { ...attempt, reduces: false }, total);
            const missing = obstacle(outcome, search, attempt);
            if (missing) return { missing };
        }
        return { missing: first && (await repeats(plan, seed, first)) ? '' : dependent };
    } finally {
        search.delete();
    }
}

const unseen = 'a browser does not show whether the host works for the scenario';
const hosted = 'the host works for the scenario outside of the schedule';
const dependent = 'the scenario depends on more than its schedule';

/**
 * The reason why a proof is impossible, no matter how many schedules are run; empty if there is none.
 *
 * @param {Outcome} outcome
 * @param {{ cut: boolean, diverged: boolean }} search
 * @param {Attempt} attempt
 */
function obstacle({ waitsFor, seeded, random }, { cut, diverged }, { stepsMax, oneSeed }) {
    if (waitsFor) return hosted;
    if (seeded && !oneSeed) return 'the scenario asks for its seed';
    if (random && !oneSeed) return 'the scenario draws random numbers, which differ between seeds';
    if (cut) return `one has more than ${stepsMax} steps`;
    return diverged ? dependent : '';
}

/**
 * Whether a run does the same again. If it does not, the scenario depends on more than its schedule, so that other runs
 * prove nothing about it.
 *
 * @param {Plan} plan
 * @param {number} seed
 * @param {Outcome} run
 */
async function repeats(plan, seed, { schedule, hash, steps }) {
    const again = await runOnce(plan, { seed, schedule });
    return again.hash === hash && again.steps === steps && !again.failure;
}
