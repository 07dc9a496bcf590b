/** Node says when a Worker ends, to the thread that started it; and only of those started while somebody listens. */

/** Of each Worker that lives, what to do when it ends. @type {Map<number, (() => void)[]>} */
export const living = new Map();

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
