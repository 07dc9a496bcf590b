/** Waits for the work of fake-indexeddb that goes on beside the schedule, such as the opening of a database. */

import { hostTask } from '../common/host-task.js';

/** fake-indexeddb (6.2) queues at most three tasks of the host between two steps that the emulator sees. */
const quietTasks = 5;

/** The bound for an upgrade that never ends. */
const tasksMax = 10_000;

/**
 * Waits until the databases can do nothing by themselves: what is left of their work waits for the schedule. Without
 * this, they would advance while a run waits for the host, by as much as the host is slow, and a run that is watched
 * would differ from one that is not.
 *
 * @param {import('./indexed-db.js').Databases} database
 */
export async function awaitQuiescence(database) {
    let seen = database.steps;
    for (let quiet = 0, tasks = 0; quiet < quietTasks && tasks < tasksMax; ++quiet, ++tasks) {
        await new Promise((resolve) => hostTask(() => resolve(undefined), true));
        if (database.steps === seen) continue;
        seen = database.steps;
        quiet = 0;
    }
    database.quiescentAt = seen;
}
