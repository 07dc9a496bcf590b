/**
 * Adds one, again and again, for so long: what each tab does in a race.
 *
 * It gives the event loop its turn sixty times a second, as a page that wants to stay alive must.
 * No timer is used: a hidden tab's run once a second or less, and most racing tabs are hidden.
 */

/** How long to work between two turns of the event loop: a frame, so that the page can be painted. */
const TURN_ms = 16;

/** So many synchronous increments between two reads of the clock, which costs more than they do. */
const BURST = 1000;

/**
 * How long after its time a strategy may still be busy with an increment. A lock that a dead tab left
 * behind costs some seconds; a race must not stand still for it.
 */
const OVERTIME_ms = 8000;

/** @typedef {{ attempted: number, elapsed_ms: number }} Progress */

/**
 * @param {import('./strategies.js').Counter} counter
 * @param {number} duration_ms
 * @param {number} adds_max  it stops earlier after so many
 * @param {(progress: Progress) => void} onTurn
 * @returns {Promise<{ attempted: number, error?: string }>} resolves when all of it is flushed;
 *     an increment that was refused with an error is reported, so it is none that got lost
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
 * A strategy whose `add` answers with a number has added by then, and need not be waited for.
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
