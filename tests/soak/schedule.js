/** What happens to the tabs of the soak test, and when: a function of the seed. */

import { seededRandom } from '../browser/page/seeded-random.js';

/**
 * What can happen to a tab.
 *
 * - `close`, `crash`: the tab ends, and another one is opened in its place
 * - `reload`: its page is loaded again
 * - `leave`: it shows another page of the origin, and comes back, out of the back/forward cache if the browser kept it
 * - `freeze`: the browser freezes the page, with the event `freeze`
 * - `suspend`: its process is stopped, without any event
 * - `hang`: its thread is busy
 * - `killConnections`, `closeConnections`, `silenceConnections`, `delayOpenings`: database-faults.js
 *
 * @typedef {'close' | 'crash' | 'reload' | 'leave' | 'freeze' | 'suspend' | 'hang' | 'killConnections'
 *     | 'closeConnections' | 'silenceConnections' | 'delayOpenings'} EventName
 */

/**
 * @typedef {object} Step
 * @property {number} wait_ms  the time since the previous step began
 * @property {EventName} what
 * @property {number} tab  its index
 * @property {number} duration_ms  how long it lasts, if it lasts
 * @property {number} seed  of a page that is opened by it
 */

/** How often each happens, in relation to the others. @type {Record<EventName, number>} */
const WEIGHTS = {
    close: 3,
    crash: 4,
    reload: 4,
    leave: 2,
    freeze: 3,
    suspend: 2,
    hang: 2,
    killConnections: 3,
    closeConnections: 2,
    silenceConnections: 1,
    delayOpenings: 1,
};

/** What ends a page. The tab 0 lives from the beginning to the end, so that its memory can be compared. */
const ENDS = new Set(['close', 'crash', 'reload', 'leave']);

const WAIT_MOST_MS = 2000;

/** Some of these times are longer than the five seconds after which a holder that does not answer is evicted. */
const DURATION_LEAST_MS = 200;
const DURATION_MOST_MS = 9000;

/**
 * @param {number} seed
 * @param {object} options
 * @param {number} options.tabs
 * @param {ReadonlySet<string>} options.can  what the engine's driver can make happen
 * @param {number} [options.wait_ms]  the longest time between two steps
 * @returns {Generator<Step, never>}
 */
export function* schedule(seed, { tabs, can, wait_ms = WAIT_MOST_MS }) {
    const random = seededRandom(seed);
    const lots = Object.entries(WEIGHTS).flatMap(([what, weight]) =>
        can.has(what) ? Array(weight).fill(what) : [],
    );
    for (;;) {
        const what = lots[random(lots.length)];
        yield {
            wait_ms: random(wait_ms),
            what,
            tab: ENDS.has(what) ? 1 + random(tabs - 1) : random(tabs),
            duration_ms: DURATION_LEAST_MS + random(DURATION_MOST_MS),
            seed: random(1_000_000),
        };
    }
}
