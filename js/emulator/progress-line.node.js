/** The progress of an exploration for a reader: a line on stderr, if that is a terminal. */

/** The shortest time between two drawings of the line. */
const drawnEvery_ms = 250;

/**
 * @param {((seeds: number) => void) | boolean | undefined} progress the option of explore()
 * @param {number} total the number of seeds
 * @returns {{ update: (seeds: number) => void, end: () => void }} `end`: erases the line
 */
export function progressMeter(progress, total) {
    if (typeof progress === 'function') return { update: progress, end: () => {} };
    const { stderr } = process;
    if (!progress || !stderr.isTTY) return { update: () => {}, end: () => {} };
    const start_ms = performance.now();
    let drawn_ms = start_ms;
    let drawn = false;
    return {
        update(seeds) {
            const now_ms = performance.now();
            if (now_ms - drawn_ms < drawnEvery_ms) return;
            drawn_ms = now_ms;
            drawn = true;
            stderr.write(`\r\u001b[K${progressText(seeds, total, (now_ms - start_ms) / 1000)}`);
        },
        end() {
            if (drawn) stderr.write('\r\u001b[K');
        },
    };
}

/**
 * @param {number} seeds how many have run
 * @param {number} total
 * @param {number} seconds how long they have taken
 */
function progressText(seeds, total, seconds) {
    const rate = seeds / seconds;
    const rest_s = Math.ceil((total - seeds) / rate);
    const shown = (/** @type {number} */ value) => value.toLocaleString('en');
    return `${shown(seeds)} of ${shown(total)} seeds, ${shown(Math.round(rate))} a second, ${shown(rest_s)} s left`;
}
