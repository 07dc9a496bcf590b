/**
 * Watches the Workers of Node. Node reports the exit of a Worker to the thread that started it, if that
 * thread was listening at that time.
 */

/** The callbacks for the exit of each running Worker, by its number. @type {Map<number, Set<() => void>>} */
export const running = new Map();

/**
 * The numbers of the Workers that have exited, the latest `exitedMax`. Node uses no number twice.
 * @type {Set<number>}
 */
export const exited = new Set();

const exitedMax = 1024;

let begun = false;

/** Begins to watch the Workers that this thread starts from here on. */
export function watchWorkers() {
    if (begun) return;
    begun = true;
    process.on('worker', (worker) => {
        const number = worker.threadId;
        running.set(number, new Set());
        worker.once('exit', () => {
            const callbacks = running.get(number) ?? [];
            running.delete(number);
            exited.add(number);
            if (exited.size > exitedMax) exited.delete(Number(exited.values().next().value));
            for (const onExit of callbacks) onExit();
        });
    });
}
