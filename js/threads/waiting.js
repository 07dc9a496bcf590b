/**
 * Sleeping on a word of shared memory. A `Woken` is the result of a sleep.
 *
 * @typedef {'ok' | 'not-equal' | 'timed-out'} Woken
 */

/** Whether this thread may block. It finds out by a wait that ends at once, which throws on a main thread. */
export function maySleep() {
    try {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 1, 0);
        return true;
    } catch {
        return false;
    }
}

/** The first and the longest pause between two reads of a word, on a platform without `Atomics.waitAsync`. */
const pollFirst_ms = 1;
const pollMax_ms = 16;

/** Resolves after a delay. @param {number} delay_ms */
const delay = (delay_ms) => new Promise((resolve) => void setTimeout(resolve, delay_ms));

/**
 * Does what sleepAsync() does, by reading the word repeatedly, with pauses that become longer.
 *
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
 * The bounds for the period of an interval timer that runs during a sleep. WebKit ends an `Atomics.waitAsync`
 * after its timeout only when its Worker runs for another reason, and a single timer is not enough for that.
 * An interval timer is enough.
 */
const timerMin_ms = 16;
const timerMax_ms = 250;
const timersPerSleep = 8;

/**
 * Resolves when the word at `index` is notified, when it differs from `value`, or after a timeout. The
 * platform cannot cancel such a wait, and keeps the memory until the wait has ended.
 *
 * @param {Int32Array<SharedArrayBuffer>} words
 * @param {number} index
 * @param {number} value
 * @param {number} [timeout_ms]
 * @param {AbortSignal} [ending] ends the wait, by a notification of all that sleep on the word. It is passed
 *   by listeners that run until the attachment is closed: their sleeps do not keep a process of Node alive
 * @returns {Promise<Woken>}
 */
export async function sleepAsync(words, index, value, timeout_ms = Infinity, ending) {
    if (!Atomics.waitAsync) return poll(words, index, value, timeout_ms, ending);
    if (ending?.aborted) return 'ok';
    const wait = Atomics.waitAsync(words, index, value, timeout_ms);
    const wake = () => Atomics.notify(words, index);
    ending?.addEventListener('abort', wake);
    // Node ends a process that waits for nothing but such a promise. A timer keeps the process alive.
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
 * Settles as `promise` does, but rejects with the signal's reason as soon as the signal aborts.
 *
 * @template T
 * @param {Promise<T>} promise
 * @param {AbortSignal | undefined} signal
 * @returns {Promise<T>}
 */
export function orAborted(promise, signal) {
    if (!signal) return promise;
    return new Promise((resolve, reject) => {
        const abort = () => reject(signal.reason);
        signal.addEventListener('abort', abort, { once: true });
        promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', abort));
    });
}
