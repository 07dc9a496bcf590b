/** A long queue, of jobs with and without keys. */

/** How many jobs are enqueued in one turn. */
const batch = 1_000;

/** @param {import('tabacus').Tab} tab */
export function jobsOf(tab) {
    /**
     * Enqueues jobs and awaits the receipts.
     *
     * @param {string} name @param {number} count @param {boolean} keyed whether each has a key of its own
     * @returns {Promise<number>} microseconds for each
     */
    async function enqueue(name, count, keyed) {
        const queue = tab.queue(name);
        const began_ms = performance.now();
        for (let from = 0; from < count; from += batch) {
            const jobs = Array.from({ length: Math.min(batch, count - from) }, (_, at) => from + at);
            await Promise.all(
                jobs.map((page) => queue.enqueue({ page }, keyed ? { key: `page ${page}` } : {})),
            );
        }
        return ((performance.now() - began_ms) * 1_000) / count;
    }

    /** Does `count` jobs. @param {string} name @param {number} count @returns {Promise<number>} microseconds for each */
    async function drain(name, count) {
        const began_ms = performance.now();
        let ran = 0;
        /** @type {() => void} */
        let stop = () => {};
        await new Promise((resolve) => {
            stop = tab.queue(name).handle(() => {
                if (++ran === count) resolve(undefined);
            });
        });
        stop();
        return ((performance.now() - began_ms) * 1_000) / count;
    }

    /**
     * Handles a queue of 16 workers until it is empty. Each job awaits a timer, as a download would.
     *
     * @param {string} name @returns {Promise<void>}
     */
    async function handle(name) {
        const queue = tab.queue(name, { concurrency: 16 });
        const stop = queue.handle(() => new Promise((resolve) => setTimeout(resolve, 4)));
        await queue.onIdle();
        stop();
    }

    /** Enqueues jobs for handle(). @param {string} name @param {number} count */
    async function fill(name, count) {
        const queue = tab.queue(name, { concurrency: 16 });
        await Promise.all(Array.from({ length: count }, (_, page) => queue.enqueue({ page })));
    }

    return { enqueue, drain, handle, fill };
}
