/**
 * The page's side of workers that attach to a shared memory and add on demand. The workers' side is
 * adder.js, with an entry for each platform.
 */

/**
 * A task for all adders at once. With `mutex` each add is made under that mutex, which is acquired in the
 * way `how`.
 *
 * @typedef {object} AddTask
 * @property {string} name the name of the counter
 * @property {import('tabacus/threads').CounterKind} kind
 * @property {number} n
 * @property {number} adds
 * @property {{ name: string, how: 'lock' | 'lockAsync' | 'timed' }} [mutex]
 */

/**
 * A worker on any platform.
 *
 * @typedef {object} Adder
 * @property {(message: unknown) => void} post
 * @property {() => Promise<any>} next resolves with the worker's next message; rejects if it fails
 * @property {() => unknown} terminate
 */

/**
 * Starts adders and attaches them to a shared memory.
 *
 * @param {() => Adder} spawn
 * @param {number} count
 * @param {unknown} handle
 * @returns {Promise<Adder[]>}
 */
export async function startAdders(spawn, count, handle) {
    const adders = Array.from({ length: count }, spawn);
    for (const adder of adders) adder.post({ handle });
    for (const adder of adders) await expectMessage(adder, 'attached');
    return adders;
}

/**
 * Lets all adders do the task, and resolves when all have. They begin together, since each waits at a
 * barrier for the last.
 *
 * @param {Adder[]} adders
 * @param {AddTask} task
 */
export async function addersAll(adders, task) {
    const barrier = new Int32Array(new SharedArrayBuffer(4)).fill(adders.length);
    for (const adder of adders) adder.post({ task, barrier });
    for (const adder of adders) await expectMessage(adder, 'done');
}

/**
 * @param {Adder} adder
 * @param {string} expected
 */
async function expectMessage(adder, expected) {
    const message = await adder.next();
    if (message !== expected) throw new Error(`unexpected message of a worker: ${JSON.stringify(message)}`);
}

/**
 * Returns a queue of messages. `next()` resolves with the next message in the order of delivery, or rejects
 * with an error that `fail()` was called with. One call of it may wait at a time.
 */
export function mailbox() {
    /** @type {{ message?: unknown, error?: unknown }[]} */
    const letters = [];
    let wake = () => {};
    /** @param {{ message?: unknown, error?: unknown }} letter */
    const put = (letter) => {
        letters.push(letter);
        wake();
    };
    return {
        /** @param {unknown} message */
        deliver: (message) => put({ message }),
        /** @param {unknown} error */
        fail: (error) => put({ error }),
        async next() {
            while (letters.length === 0)
                await new Promise((resolve) => void (wake = () => resolve(undefined)));
            const letter = /** @type {{ message?: unknown, error?: unknown }} */ (letters.shift());
            if ('error' in letter) throw letter.error;
            return letter.message;
        },
    };
}
