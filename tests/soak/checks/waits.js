/**
 * Every operation ends within the bounds that docs/guarantees.md documents for its calls. The time for which its page
 * was stopped (frozen, suspended, busy, left) does not count, because the timers of the page did not run then.
 */

import { LOCK_TIMEOUT_MS } from '../page/holds.js';
import { ENQUEUE_TIMEOUT_MS } from '../page/jobs.js';
import { CALL_TIMEOUT_MS, LEAD_TIMEOUT_MS, TERM_LEAST_MS, TERM_MOST_MS } from '../page/leaders.js';
import { LIMIT_TIMEOUT_MS } from '../page/limits.js';
import { ONCE_TIMEOUT_MS } from '../page/operations.js';
import { TIMEOUTS } from '../page/timeouts.js';

/** @typedef {import('../event-log.js').Event} Event */

/** A call without a timeout ends after two attempts, each of which takes at most 1.25 times `timeouts.transaction`. */
const TWO_ATTEMPTS_MS = 2.5 * TIMEOUTS.transaction;

/** The bound of each kind of operation: the sum of the bounds of its calls. @type {Record<string, number>} */
export const BOUNDS_MS = {
    count: 2 * TWO_ATTEMPTS_MS, // add() and flush()
    readCounter: TWO_ATTEMPTS_MS,
    lock: LOCK_TIMEOUT_MS + 2 * TWO_ATTEMPTS_MS, // two commits
    sharedLock: LOCK_TIMEOUT_MS,
    lockAll: LOCK_TIMEOUT_MS + TWO_ATTEMPTS_MS, // a commit
    semaphore: LOCK_TIMEOUT_MS,
    lead: LEAD_TIMEOUT_MS + TERM_LEAST_MS + TERM_MOST_MS,
    callLeader: CALL_TIMEOUT_MS,
    sequence: LIMIT_TIMEOUT_MS,
    budget: 2 * LIMIT_TIMEOUT_MS, // tryTake() and give()
    rateLimit: LIMIT_TIMEOUT_MS,
    enqueue: ENQUEUE_TIMEOUT_MS,
    enqueueKeyed: ENQUEUE_TIMEOUT_MS,
    enqueueOnce: ENQUEUE_TIMEOUT_MS,
    once: ONCE_TIMEOUT_MS,
    forget: ONCE_TIMEOUT_MS,
};

/**
 * What the browser and a busy machine add to a bound. The timers of hidden pages run once a second, and up to three of them
 * follow each other in an operation. Six pages and their log share two cores with other work: there, operations took up to
 * 3 s longer than their bounds. A machine may be slower still, and a wait without end exceeds any margin.
 */
export const BUSY_MACHINE_MS = 10_000;

/** The time for which a fault without an end, such as a dead connection or a crash, is reported as a reason of a wait. */
const REASON_MS = 10_000;

/**
 * A fault or a stop of a page, and the time for which it lasts.
 *
 * @typedef {{ page: string, what: string, from_ms: number, to_ms: number, stops: boolean }} Trouble
 */

/**
 * An operation that has ended, or whose page is gone.
 *
 * @typedef {object} Wait
 * @property {string} op
 * @property {string} kind
 * @property {number} from_ms
 * @property {number} waited_ms
 * @property {number} counted_ms  the part of `waited_ms` without the time for which its page was certainly stopped
 * @property {string} outcome  `ok`, the code of an error, or `none` if the page was gone before
 * @property {string[]} ownPage  what happened to its page meanwhile
 * @property {string[]} otherPages  what happened to others
 */

/** @param {readonly Event[]} events @returns {string[]} */
export function checkWaits(events) {
    return waitsOf(events)
        .filter(({ kind, counted_ms }) => counted_ms > (BOUNDS_MS[kind] ?? 0) + BUSY_MACHINE_MS)
        .map((wait) => {
            const { kind, op, counted_ms, ownPage } = wait;
            const meanwhile = ownPage.length > 0 ? `; to its page happened: ${ownPage.join(', ')}` : '';
            return `${kind} ${op} took ${counted_ms} ms, and its bound is ${BOUNDS_MS[kind]} ms${meanwhile}`;
        });
}

/**
 * The longest operation of each kind, beside its bound, and what happened meanwhile.
 *
 * @param {readonly Event[]} events
 */
export function longestWaits(events) {
    /** @type {Map<string, Wait>} */
    const longest = new Map();
    for (const wait of waitsOf(events))
        if (wait.counted_ms >= (longest.get(wait.kind)?.counted_ms ?? 0)) longest.set(wait.kind, wait);
    return Object.fromEntries(
        [...longest].map(([kind, { kind: _, ...wait }]) => [kind, { bound_ms: BOUNDS_MS[kind], ...wait }]),
    );
}

/** @param {readonly Event[]} events @returns {Wait[]} */
function waitsOf(events) {
    const troubles = troublesOf(events);
    /** The operations that have begun and not ended. @type {Map<string, Event>} */
    const open = new Map();
    /** @type {Wait[]} */
    const waits = [];
    for (const event of events) {
        const { type, op = '', page, time_ms } = event;
        if (type === 'begin') open.set(op, event);
        if (type === 'end') {
            waits.push(waitOf(open.get(op) ?? event, event, troubles));
            open.delete(op);
        }
        if (type !== 'gone') continue;
        for (const [key, begin] of open) {
            if (begin.page !== page) continue;
            const end = { type: 'end', waited_ms: time_ms - begin['time_ms'], code: 'none', time_ms };
            waits.push(waitOf(begin, end, troubles));
            open.delete(key);
        }
    }
    return waits;
}

/** @param {Event} begin @param {Event} end @param {readonly Trouble[]} troubles @returns {Wait} */
function waitOf({ op = '', kind, page, time_ms: from_ms }, { ok, code, waited_ms, time_ms }, troubles) {
    const meanwhile = troubles.filter((one) => one.from_ms <= time_ms && one.to_ms >= from_ms);
    const own = meanwhile.filter((one) => one.page === page);
    const stops = own.filter((one) => one.stops);
    const stopped_ms = stops.reduce((sum, one) => sum + sharedTime_ms(one, from_ms, time_ms), 0);
    // A page measures its wait between the two events that it writes. It may be stopped outside the wait, too.
    const outside_ms = Math.max(time_ms - from_ms - waited_ms, 0);
    return {
        op,
        kind,
        from_ms,
        waited_ms,
        counted_ms: waited_ms - Math.max(stopped_ms - outside_ms, 0),
        outcome: ok ? 'ok' : code,
        ownPage: own.map(({ what }) => what),
        otherPages: meanwhile.filter((one) => one.page !== page).map(({ what }) => what),
    };
}

/** How long a trouble lasted between two times. @param {Trouble} trouble @param {number} from_ms @param {number} to_ms */
const sharedTime_ms = (trouble, from_ms, to_ms) =>
    Math.min(trouble.to_ms, to_ms) - Math.max(trouble.from_ms, from_ms);

/** What happened to pages. @param {readonly Event[]} events @returns {Trouble[]} */
function troublesOf(events) {
    /** @type {Trouble[]} */
    const troubles = [];
    /** The step that was last taken with each page. @type {Map<string, string>} */
    const steps = new Map();
    /** The stops that last. @type {Map<string, Trouble>} */
    const stops = new Map();
    for (const { type, page = '', what, time_ms } of events) {
        const named = { page, what: steps.get(page) ?? type, from_ms: time_ms };
        if (type === 'step') steps.set(page, what);
        if (type === 'gone' || type === 'fault')
            troubles.push({ ...named, to_ms: time_ms + REASON_MS, stops: false });
        if (type === 'disturbed') {
            const stop = { ...named, to_ms: Infinity, stops: true };
            stops.set(page, stop);
            troubles.push(stop);
        }
        const stop = stops.get(page);
        if (stop && (type === 'calm' || type === 'gone')) {
            stop.to_ms = time_ms;
            stops.delete(page);
        }
    }
    return troubles;
}
