/** @typedef {import('./generated/coordination-calls.js').JobInfo} JobInfo */
/** @typedef {import('./generated/coordination-calls.js').EndedJob} EndedJob */
/** @typedef {import('./generated/coordination-calls.js').QueueNotification} QueueNotification */

/**
 * What a queue receives from the program.
 *
 * @typedef {object} QueueListener
 * @property {(run: number, job: JobInfo) => void} begin
 * @property {(run: number, reason: string) => void} lose
 * @property {(jobs: EndedJob[]) => void} settle
 * @property {(notification: QueueNotification) => void} receive
 */

/** What locks and queues listen to the program with, each by the number that the program has of it. */
export class CoordinationListeners {
    /** Held locks that were lost. @type {Map<number, (reason: string) => void>} */
    lost = new Map();

    /** Watches of locks that were taken or let go. @type {Map<number, () => void>} */
    unlocked = new Map();

    /** @type {Map<number, QueueListener>} */
    queues = new Map();

    #last = 0;

    /** A number for a request or a watch, which no other of this program has. */
    take() {
        return ++this.#last;
    }

    /**
     * @param {number} held
     * @param {string} reason
     */
    lockLost(held, reason) {
        this.lost.get(held)?.(reason);
    }

    /** @param {number} watch */
    lockChanged(watch) {
        this.unlocked.get(watch)?.();
    }

    /**
     * @param {number} queue
     * @param {number} run
     * @param {JobInfo} job
     */
    queueRun(queue, run, job) {
        this.queues.get(queue)?.begin(run, job);
    }

    /**
     * @param {number} queue
     * @param {number} run
     * @param {string} reason
     */
    queueLost(queue, run, reason) {
        this.queues.get(queue)?.lose(run, reason);
    }

    /**
     * @param {number} queue
     * @param {EndedJob[]} jobs
     */
    queueSettled(queue, jobs) {
        this.queues.get(queue)?.settle(jobs);
    }

    /**
     * @param {number} queue
     * @param {QueueNotification} notification
     */
    queueEvent(queue, notification) {
        this.queues.get(queue)?.receive(notification);
    }
}
