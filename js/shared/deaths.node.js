/**
 * How the page hears that a thread has died. Node says when a Worker ends, to the thread that started it;
 * and only of those that are started while somebody listens.
 */

import { threadId } from 'node:worker_threads';

/** Of each Worker that lives, what to do when it ends. @type {Map<number, (() => void)[]>} */
const living = new Map();

let begun = false;

export function beginWatching() {
    if (begun) return;
    begun = true;
    process.on('worker', (worker) => {
        const number = worker.threadId;
        living.set(number, []);
        worker.once('exit', () => {
            const ends = living.get(number) ?? [];
            living.delete(number);
            for (const end of ends) end();
        });
    });
}

/** What the platform calls this thread; the first is 0, and its death is everybody's. */
export const threadNumber = () => threadId;

/** A thread's number is sign enough. @returns {Promise<(() => void) | undefined>} */
export const live = async () => undefined;

/**
 * @param {string} _life
 * @param {number} _id
 * @param {() => void} dead
 * @param {number} thread
 */
export function watch(_life, _id, dead, thread) {
    living.get(thread)?.push(dead);
}
