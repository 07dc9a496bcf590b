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
 * @param {AbortSignal} [ending]
 * @returns {Promise<Woken>}
 */
async function poll(words, index, value, timeout_ms, ending) {
    const deadline_ms = performance.now() + timeout_ms;
    let pause_ms = pollFirst_ms;
    while (Atomics.load(words, index) === value && !ending?.aborted) {
        const rest_ms = deadline_ms - performance.now();
        if (rest_ms <= 0) return 'timed-out';
        await delay(Math.min(pause_ms, rest_ms));
        pause_ms = Math.min(2 * pause_ms, pollMax_ms);
    }
    return 'ok';
}

/**
 * WebKit ends an `Atomics.waitAsync` whose time is over only when its Worker runs again for another reason, and a
 * single timer is none. So an interval timer wakes the Worker, with a period within these bounds.
 */
const timerMin_ms = 16;
const timerMax_ms = 250;
const timersPerSleep = 8;

/**
 * Resolves when the word at `index` is notified, is not `value`, or the time is over. Cannot be
 * cancelled, the platform has no way to; and keeps the memory until then.
 *
 * @param {Int32Array<SharedArrayBuffer>} words
 * @param {number} index
 * @param {number} value
 * @param {number} [timeout_ms]
 * @param {AbortSignal} [ending] of who only listens: then it is over, with a notify for all who sleep there; and
 *   it keeps no process alive that has nothing else to do
 * @returns {Promise<Woken>}
 */
export async function sleepAsync(words, index, value, timeout_ms = Infinity, ending) {
    if (!Atomics.waitAsync) return poll(words, index, value, timeout_ms, ending);
    if (ending?.aborted) return 'ok';
    const wait = Atomics.waitAsync(words, index, value, timeout_ms);
    const wake = () => Atomics.notify(words, index);
    ending?.addEventListener('abort', wake);
    // Node ends a process whose only hope is such a promise; a timer keeps it.
    const timer_ms =
        timeout_ms < Infinity
            ? Math.min(Math.max(timeout_ms / timersPerSleep, timerMin_ms), timerMax_ms)
            : 2 ** 30;
    const alive = ending ? undefined : setInterval(() => {}, timer_ms);
    try {
        return await wait.value;
    } finally {
        clearInterval(alive);
        ending?.removeEventListener('abort', wake);
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
