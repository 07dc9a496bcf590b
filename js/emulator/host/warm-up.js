/**
 * A run of a scenario before the runs that count. A scenario that is a closure uses the import() of the language, which
 * loads a module in the host's own time. It completes in microtasks once the module is loaded.
 */

import { hostTask } from '../common/host-task.js';
import { runOnce } from '../explore.js';
import { inTime } from './in-time.js';

/** @typedef {import('../explore.js').Plan} Plan */

/** How often a scenario runs at most: modules that are loaded one after the other may need a run each. */
const runsMax = 5;

/** How many tasks of the host in a row must pass without work of the host. */
const quietTasksMin = 20;

/** How many tasks of the host may pass while it works, which is more than 10 s. */
const busyTasksMax = 1e7;

/** How long a host that does not tell what it does gets for a module, in milliseconds of real time. */
const blind_ms = 250;

/**
 * How many requests the host works on, such as files that it reads.
 *
 * @returns {number | undefined} undefined if the host does not tell
 */
function requests() {
    const names = /** @type {any} */ (globalThis).process?.getActiveResourcesInfo?.();
    return names?.filter((/** @type {string} */ name) => /req/i.test(name)).length;
}

/**
 * Waits until the host works on no more requests than before.
 *
 * @param {number} before
 * @returns {Promise<boolean>} whether it had to wait
 */
async function rested(before) {
    let waited = false;
    for (let quiet = 0, tasks = 0; quiet < quietTasksMin && tasks < busyTasksMax; ++quiet, ++tasks) {
        await /** @type {Promise<void>} */ (new Promise((resolve) => hostTask(resolve, true)));
        if (Number(requests()) <= before) continue;
        waited = true;
        quiet = 0;
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
    for (let run = 0; run < runsMax; ++run) {
        const before = requests();
        const { failure } = await runOnce({ ...plan, invariant: () => {} }, { seed: 1, schedule: [] });
        if (before === undefined && failure) await inTime(new Promise(() => {}), blind_ms);
        else if (before === undefined || !(await rested(before))) return;
    }
}
