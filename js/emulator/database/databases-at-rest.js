/**
 * Work of the databases beside the schedule: openings and upgrades advance by tasks of the host. While a run waits for
 * the host, any number of such tasks may pass. So the run goes on only after that work has advanced as far as it can.
 */

import { hostTask } from '../common/host-task.js';

/**
 * How many tasks of the host in a row must pass without a step of the databases. The peer takes up to four tasks
 * between two steps: an opening waits for `versionchange` events, and looks whether connections are closed.
 */
const quietTasksMin = 16;

/**
 * Waits until no step of the databases can follow without an event of the schedule.
 *
 * @param {import('../origin.js').Origin} origin
 */
export async function databasesAtRest({ database }) {
    if (!database?.used) return;
    for (let quiet = 0, known = database.steps; quiet < quietTasksMin; ++quiet) {
        await /** @type {Promise<void>} */ (new Promise((resolve) => hostTask(resolve, true)));
        if (database.steps === known) continue;
        known = database.steps;
        quiet = 0;
    }
}
