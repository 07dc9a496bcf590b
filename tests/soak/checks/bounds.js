/** What is stored at the end, and the memory of the oldest tab, are bounded. */

/** @typedef {import('../event-log.js').Event} Event */

const MEGABYTE = 2 ** 20;

/** What one tab of the test leaves behind at most: a slot's row for each of five counters, and their backups. */
const ROWS_A_TAB = 12;

/** The tabs whose traces may be there: six that live, and those that ended since another tab last cleaned up. */
const TABS_MOST = 10;

/** Rows that do not depend on tabs: those of the names that the test uses. */
const ROWS_OF_NAMES = 200;

/** Entries of localStorage that do not depend on tabs. */
const KEYS_OF_NAMES = 100;

/** Web Locks that six tabs hold or request when nothing happens. */
const LOCKS_MOST = 120;

/** A page still loads parts of the package before this time. */
const LOADED_MS = 60_000;

/** How much the memory of a tab grows after that. */
const GROWTH_MOST = 150 * MEGABYTE;

/** @param {readonly Event[]} events @returns {string[]} */
export function checkBounds(events) {
    const sizes = events.find(({ type }) => type === 'sizes');
    if (!sizes) return [];
    const kept = keptResults(events);
    const most = ROWS_A_TAB * TABS_MOST + ROWS_OF_NAMES + kept;
    const rows = Object.values(sizes.rows).reduce((sum, count) => sum + count, 0);
    return [
        ...above('rows of IndexedDB', rows, most),
        ...above('keys of localStorage', sizes.keys, ROWS_A_TAB * TABS_MOST + KEYS_OF_NAMES),
        ...above('locks', sizes.locks, LOCKS_MOST),
        ...growth(events),
    ];
}

/** @param {string} what @param {number} found @param {number} most */
const above = (what, found, most) =>
    found > most ? [`${found} ${what} are left, which is more than ${most}`] : [];

/**
 * The results that the store keeps for an hour, since the page that asked for them is gone: of jobs and of calls to a
 * leader.
 *
 * @param {readonly Event[]} events
 */
function keptResults(events) {
    const fetched = new Set(events.filter(({ type }) => type === 'result').map(({ job }) => job));
    const jobs = events.filter(({ type, ok, job }) => type === 'end' && ok && job && !fetched.has(job));
    const ended = new Set(events.filter(({ type }) => type === 'end').map(({ op }) => op));
    const calls = events.filter(
        ({ type, kind, op }) => type === 'begin' && !ended.has(op) && /callLeader|enqueue/.test(kind),
    );
    return 2 * (jobs.length + calls.length);
}

/** @param {readonly Event[]} events */
function growth(events) {
    const bytes = events
        .filter(({ type, time_ms }) => type === 'memory' && time_ms > LOADED_MS)
        .map((event) => event.bytes);
    const [first] = bytes;
    const last = bytes.at(-1);
    if (first === undefined || last - first <= GROWTH_MOST) return [];
    return [`the memory of a tab grew from ${first} to ${last} bytes`];
}
