/**
 * A run of a scenario before the runs that count. A scenario that is a closure uses the import() of the language, which
 * loads a module in the host's own time. It completes in microtasks once the module is loaded.
 */

import { hostTask } from '../common/host-task.js';
import { runOnce } from '../explore.js';
import { HostWaits } from '../verdict/host-waits.js';
import { withTimeLimit } from './time-limit.js';

/** @typedef {import('../plan.js').Plan} Plan */

/** How often a scenario runs at most: modules that are loaded one after the other may need a run each. */
const runsMax = 5;

/** How many tasks of the host in a row must pass without work of the host. */
const quietTasksMin = 20;

/** How many pauses a run may take while the host works, which are more than 10 s. */
const pausesMax = 10_000;

/** How many pauses a run may take while the host waits for timers, connections or threads, which may never end. */
const idlePausesMax = 500;

/** A pause, in milliseconds of real time. */
const pause_ms = 1;

/** How long the host gets for work that it does not report, in milliseconds of real time. */
const unseen_ms = 50;

/** How long it gets if it reports no work at all, in milliseconds of real time. */
const blind_ms = 250;

/** @param {number} time_ms in real time */
const pause = (time_ms) => withTimeLimit(new Promise(() => {}), time_ms);

/**
 * What the host does at the moment.
 *
 * @returns {{ requests: number, waits: number } | undefined} how many requests it works on, such as files that it reads,
 *   and for how many other things it waits, such as timers; undefined if the host does not report this
 */
function work() {
    /** @type {string[] | undefined} */
    const names = /** @type {any} */ (globalThis).process?.getActiveResourcesInfo?.();
    if (!names) return undefined;
    const requests = names.filter((name) => /req/i.test(name)).length;
    return { requests, waits: names.filter((name) => name !== 'Immediate').length - requests };
}

/**
 * Waits until the host does no more than before.
 *
 * @param {ReturnType<typeof work>} before
 * @returns {Promise<boolean>} whether it had to wait
 */
async function rested(before) {
    let waited = false;
    let pauses = 0;
    for (let quiet = 0; quiet < quietTasksMin; ++quiet) {
        await /** @type {Promise<void>} */ (new Promise((resolve) => hostTask(resolve, true)));
        const { requests = 0, waits = 0 } = work() ?? {};
        const works = before !== undefined && requests > before.requests && pauses < pausesMax;
        const idles = before !== undefined && waits > before.waits && pauses < idlePausesMax;
        if (!works && !idles) continue;
        waited = true;
        quiet = 0;
        ++pauses;
        await pause(pause_ms);
    }
    return waited;
}

/**
 * Runs a scenario, and lets the host finish what the scenario began, until the host has nothing to do any more.
 *
 * @param {Plan} plan
 */
export async function warmUp(plan) {
    if (typeof plan.scenario !== 'function') return;
    let last = '';
    for (let run = 0; run < runsMax; ++run) {
        const before = work();
        const warming = { ...plan, invariant: () => {}, hostWaits: new HostWaits() };
        // The watch knows which run has caused a rejection that comes after the end of the run.
        const { failure, waitsFor, hash } = await runOnce(warming, { seed: 1, schedule: [] }, true);
        const waited = await rested(before);
        // A run that equals the one before it has loaded nothing that matters.
        if (hash === last || !(waited || failure || waitsFor)) return;
        if (!waited) await pause(before ? unseen_ms : blind_ms);
        last = hash;
    }
}
