/**
 * Runs tasks as early as what they need is done and a core is free. A failed task takes along those
 * that need it; the others still run.
 */

/**
 * @typedef {object} Task
 * @property {string} name
 * @property {string[]} needs Names of the tasks that must have succeeded.
 * @property {number} cores How many it keeps busy: 0 for one that mostly waits.
 * @property {() => Promise<void>} run
 */

/** @typedef {'waiting' | 'running' | 'done' | 'failed' | 'left out'} State */

/**
 * Tells how each task ended.
 * @param {Task[]} tasks In order of preference.
 * @param {number} cores
 * @returns {Promise<Map<string, State>>}
 */
export async function schedule(tasks, cores) {
    /** @type {Map<string, State>} */
    const states = new Map(tasks.map(({ name }) => [name, 'waiting']));
    /** @type {Set<Promise<void>>} */
    const running = new Set();
    let free = cores;

    /** @param {Task} task */
    const start = (task) => {
        states.set(task.name, 'running');
        free -= task.cores;
        const end = task
            .run()
            .then(
                () => states.set(task.name, 'done'),
                () => states.set(task.name, 'failed'),
            )
            .then(() => {
                free += task.cores;
                running.delete(end);
            });
        running.add(end);
    };

    for (;;) {
        let full = false;
        for (const task of tasks.filter(({ name }) => states.get(name) === 'waiting')) {
            const needed = task.needs.map((name) => states.get(name));
            if (needed.some((state) => state === 'failed' || state === 'left out'))
                states.set(task.name, 'left out');
            else if (needed.every((state) => state === 'done')) {
                // What comes later does not overtake: a task of two cores would wait for all of one.
                full ||= task.cores > free;
                if (!full || task.cores === 0) start(task);
            }
        }
        if (running.size > 0) await Promise.race(running);
        else if (![...states.values()].includes('waiting')) return states;
    }
}

/**
 * The tasks chosen and all that they need, in the order given.
 * @param {Task[]} tasks
 * @param {(task: Task) => boolean} isChosen
 */
export function withNeeds(tasks, isChosen) {
    const names = new Set(tasks.filter(isChosen).map(({ name }) => name));
    for (const task of [...tasks].reverse())
        if (names.has(task.name)) for (const need of task.needs) names.add(need);
    return tasks.filter(({ name }) => names.has(name));
}
