/** @typedef {import('./generated/coordination-calls.js').JobInfo} JobInfo */
/** @typedef {import('./generated/coordination-calls.js').EndedJob} EndedJob */
/** @typedef {import('./generated/coordination-calls.js').QueueNotification} QueueNotification */

/**
 * The callbacks of a queue for the program.
 *
 * @typedef {object} QueueListener
 * @property {(run: number, job: JobInfo) => void} begin a job is to be run by this tab
 * @property {(run: number, reason: string) => void} lose the claim of a running job was lost
 * @property {(jobs: EndedJob[]) => void} settle jobs were settled, in this tab or another one
 * @property {(notification: QueueNotification) => void} receive something happened in the queue
 */

/** The number of lock names at which the set of them may be cleared. */
const lockNamesKept = 1_024;

/** The callbacks of locks and queues for the program. The program identifies each by a number. */
export class CoordinationListeners {
    /** The locks that are not released, of all handles. @type {Map<number, import('../lock/held.js').Held>} */
    held = new Map();

    /** The callbacks of watches for changes of a lock. @type {Map<number, () => void>} */
    unlocked = new Map();

    /** The callbacks of queues. @type {Map<number, QueueListener>} */
    queues = new Map();

    /** The names of locks, of which the program keeps no record once they are let go. @type {Set<string>} */
    #lockNames = new Set();

    #last = 0;

    /**
     * Returns the names of locks that may be in use, for Bridge.admit(). Forgets all of them if most are let go. A lock
     * that stays held is not counted again until it is requested again.
     *
     * @param {number} calls how many calls are not answered: each may wait for a lock
     */
    lockNames(calls) {
        const most = 2 * (this.held.size + calls);
        if (this.#lockNames.size >= Math.max(most, lockNamesKept)) this.#lockNames.clear();
        return this.#lockNames;
    }

    /** Returns a number for a request or a watch, different from all earlier ones. */
    take() {
        return ++this.#last;
    }

    /**
     * Called by the program when a held lock was lost.
     *
     * @param {number} held
     * @param {string} reason
     */
    lockLost(held, reason) {
        this.held.get(held)?._lose(reason);
    }

    /** Called by the program when a watched lock was acquired, released or lost. @param {number} watch */
    lockChanged(watch) {
        this.unlocked.get(watch)?.();
    }

    /**
     * Called by the program to run a job.
     *
     * @param {number} queue
     * @param {number} run
     * @param {JobInfo} job
     */
    queueRun(queue, run, job) {
        this.queues.get(queue)?.begin(run, job);
    }

    /**
     * Called by the program when the claim of a running job was lost.
     *
     * @param {number} queue
     * @param {number} run
     * @param {string} reason
     */
    queueLost(queue, run, reason) {
        this.queues.get(queue)?.lose(run, reason);
    }

    /**
     * Called by the program when jobs were settled.
     *
     * @param {number} queue
     * @param {EndedJob[]} jobs
     */
    queueSettled(queue, jobs) {
        this.queues.get(queue)?.settle(jobs);
    }

    /**
     * Called by the program when something happened in a queue.
     *
     * @param {number} queue
     * @param {QueueNotification} notification
     */
    queueEvent(queue, notification) {
        this.queues.get(queue)?.receive(notification);
    }
}
