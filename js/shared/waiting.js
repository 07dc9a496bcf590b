/**
 * Sleeping on a word of shared memory: blocking where this thread may, as a promise everywhere.
 *
 * @typedef {'ok' | 'not-equal' | 'timed-out'} Woken
 */

/** May this thread block? The platform itself is asked: a main thread refuses even a failing wait. */
export function maySleep() {
    try {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1, 0);
        return true;
    } catch {
        return false;
    }
}

/** Where there is no `Atomics.waitAsync` the word is looked at again and again, ever more seldom. */
const pollFirst_ms = 1;
const pollMax_ms = 16;

/** @param {number} delay_ms */
const delay = (delay_ms) => new Promise((resolve) => void setTimeout(resolve, delay_ms));

/**
 * @param {Int32Array<SharedArrayBuffer>} words
 * @param {number} index
 * @param {number} value
 * @param {number} timeout_ms
 * @returns {Promise<Woken>}
 */
async function poll(words, index, value, timeout_ms) {
    const deadline_ms = performance.now() + timeout_ms;
    let pause_ms = pollFirst_ms;
    while (Atomics.load(words, index) === value) {
        const rest_ms = deadline_ms - performance.now();
        if (rest_ms <= 0) return 'timed-out';
        await delay(Math.min(pause_ms, rest_ms));
        pause_ms = Math.min(2 * pause_ms, pollMax_ms);
    }
    return 'ok';
}

/**
 * Resolves when the word at `index` is notified, is not `value`, or the time is over. Cannot be
 * cancelled: the platform has no way to.
 *
 * @param {Int32Array<SharedArrayBuffer>} words
 * @param {number} index
 * @param {number} value
 * @param {number} [timeout_ms]
 * @param {boolean} [keepsAlive] a process that has nothing else to do
 * @returns {Promise<Woken>}
 */
export async function sleepAsync(words, index, value, timeout_ms = Infinity, keepsAlive = true) {
    if (!Atomics.waitAsync) return poll(words, index, value, timeout_ms);
    const wait = Atomics.waitAsync(words, index, value, timeout_ms);
    if (!wait.async) return wait.value;
    if (!keepsAlive) return wait.value;
    // Node ends a process whose only hope is such a promise; a timer keeps it.
    const alive = setInterval(() => {}, 2 ** 30);
    try {
        return await wait.value;
    } finally {
        clearInterval(alive);
    }
}

/**
 * @template T
 * @param {Promise<T>} promise
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<T>} rejected with the signal's reason as soon as it aborts
 */
export function orAborted(promise, signal) {
    if (!signal) return promise;
    return new Promise((resolve, reject) => {
        const abort = () => reject(signal.reason);
        signal.addEventListener('abort', abort, { once: true });
        promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
    });
}
