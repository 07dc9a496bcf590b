/**
 * Runs each task as soon as the tasks that it needs are done and enough cores are free. If a task fails, the tasks
 * that need it are left out; the others still run.
 */

/**
 * @typedef {object} Task
 * @property {string} name
 * @property {string[]} needs the names of the tasks that must have succeeded before it starts
 * @property {number} cores how many cores it keeps busy; 0 if it mostly waits
 * @property {() => Promise<void>} run
 */

/** @typedef {'waiting' | 'running' | 'done' | 'failed' | 'left out'} State */

/**
 * Runs the tasks. Resolves to the state in which each one ended.
 * @param {Task[]} tasks in the order of preference
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
                // No later task overtakes one that waits for cores, or a task of two cores would wait for all others.
                full ||= task.cores > free;
                if (!full || task.cores === 0) start(task);
            }
        }
        if (running.size > 0) await Promise.race(running);
        else if (![...states.values()].includes('waiting')) return states;
    }
}

/**
 * The chosen tasks and all tasks that they need, in the given order.
 * @param {Task[]} tasks
 * @param {(task: Task) => boolean} isChosen
 */
export function withNeeds(tasks, isChosen) {
    const names = new Set(tasks.filter(isChosen).map(({ name }) => name));
    for (const task of [...tasks].reverse())
        if (names.has(task.name)) for (const need of task.needs) names.add(need);
    return tasks.filter(({ name }) => names.has(name));
}
