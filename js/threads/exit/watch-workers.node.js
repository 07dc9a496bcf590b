/** Node says when a Worker ends, to the thread that started it; and only of those started while somebody listens. */

/** Of each Worker that lives, what to do when it ends. @type {Map<number, Set<() => void>>} */
export const living = new Map();

/** The latest that have ended: Node gives no number twice. @type {Set<number>} */
export const ended = new Set();

const endedMax = 1024;

let begun = false;

export function beginWatching() {
    if (begun) return;
    begun = true;
    process.on('worker', (worker) => {
        const number = worker.threadId;
        living.set(number, new Set());
        worker.once('exit', () => {
            const ends = living.get(number) ?? [];
            living.delete(number);
            ended.add(number);
            if (ended.size > endedMax) ended.delete(Number(ended.values().next().value));
            for (const end of ends) end();
        });
    });
}
