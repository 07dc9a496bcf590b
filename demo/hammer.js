/**
 * Adds one again and again for a time: the part of each tab in a race.
 *
 * It returns to the event loop sixty times a second, so that the page stays responsive. It uses no timer: those of a
 * hidden tab run once a second or less, and most tabs of a race are hidden.
 */

/** How long to work between two turns of the event loop: the time of a frame, so that the page can be painted. */
const TURN_ms = 16;

/** The number of synchronous increments between two readings of the clock, which is slower than an increment. */
const BURST = 1000;

/**
 * How long a strategy may still be busy with an increment after its time is over. A lock that a crashed tab has left
 * delays it by some seconds; a race does not wait longer.
 */
const OVERTIME_ms = 8000;

/** @typedef {{ attempted: number, elapsed_ms: number }} Progress */

/**
 * @param {import('./strategies.js').Counter} counter
 * @param {number} duration_ms
 * @param {number} adds_max  the largest number of increments, after which it stops early
 * @param {(progress: Progress) => void} onTurn
 * @returns {Promise<{ attempted: number, error?: string }>} resolves once all increments are flushed, or with the
 *   error that ended it; an increment that failed with an error does not count as lost
 */
export async function hammer(counter, duration_ms, adds_max, onTurn) {
    const start_ms = performance.now();
    const elapsed = () => performance.now() - start_ms;
    let attempted = 0;
    let over = false;
    const work = async () => {
        const busy = () => !over && attempted < adds_max && elapsed() < duration_ms;
        while (busy()) {
            const until_ms = elapsed() + TURN_ms;
            while (busy() && elapsed() < until_ms) attempted += await burst(counter);
            onTurn({ attempted, elapsed_ms: elapsed() });
            await eventLoopTurn();
        }
        onTurn({ attempted, elapsed_ms: elapsed() });
        await counter.flush();
    };
    try {
        await within(duration_ms + OVERTIME_ms, work());
        return { attempted };
    } catch (error) {
        return { attempted, error: String(error) };
    } finally {
        over = true;
    }
}

/**
 * @param {number} timeout_ms
 * @param {Promise<void>} work
 */
async function within(timeout_ms, work) {
    /** @type {ReturnType<typeof setTimeout> | undefined} */
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error('an increment took too long')), timeout_ms);
    });
    try {
        await Promise.race([work, late]);
    } finally {
        clearTimeout(timer);
    }
}

/**
 * Adds, many times if the strategy is synchronous: its `add` returns a number, and need not be awaited.
 *
 * @param {import('./strategies.js').Counter} counter
 * @returns {Promise<number> | number} how many it added
 */
function burst(counter) {
    const first = counter.add(1);
    if (typeof first !== 'number') return first.then(() => 1);
    for (let i = 1; i < BURST; i += 1) void counter.add(1);
    return BURST;
}

const { port1, port2 } = new MessageChannel();

/** @returns {Promise<void>} */
function eventLoopTurn() {
    return new Promise((resolve) => {
        port1.onmessage = () => resolve();
        port2.postMessage(null);
    });
}
