/** Every operation of a page that lives ends with one of the outcomes that are documented. */

import { withPages } from './pages.js';

/** @typedef {import('../event-log.js').Event} Event */

/** What an operation may end with at any time. Some request is always refused or too late. */
const ALWAYS = new Set(['TimeoutError', 'AbortError', 'lock-lost', 'fenced']);

/**
 * What an operation may end with if the database of its page has failed, or if a page has stopped: a page that stops
 * within a transaction holds up the transactions of all others.
 */
const AFTER_FAULTS = new Set(['store-failed', 'unknown-commit']);

/** What an operation may end with while its page is left, closed or stopped: the browser may load no file for it. */
const WHILE_LEFT = new Set(['unavailable']);

/** The time from the moment at which a page stops to the last error for that reason. */
const STOP_EFFECT_MS = 30_000;

/**
 * The time from a fault of a page's database to the last error for that reason: three connections are tried in turn,
 * and a late opening takes up to nine seconds.
 */
const FAULT_EFFECT_MS = 60_000;

/** @param {readonly Event[]} events @returns {string[]} */
export function checkEndings(events) {
    return [...uncaught(events), ...unended(events), ...wrongEnds(events)];
}

/** @param {readonly Event[]} events */
const uncaught = (events) =>
    events
        .filter(({ type }) => type === 'uncaught')
        .map(({ page, message }) => `page ${page} caught an error that nobody handled: ${message}`);

/** Operations without an end, of pages that lived until the end. @param {readonly Event[]} events */
function unended(events) {
    /** @type {Map<string, Event>} */
    const open = new Map();
    for (const [event, { isGone }] of withPages(events)) {
        const { type, op = '', page } = event;
        if (type === 'begin') open.set(op, event);
        if (type === 'end') open.delete(op);
        if (isGone) for (const [key, one] of open) if (one.page === page) open.delete(key);
    }
    const missing = events.filter(({ type }) => type === 'results-missing');
    return [
        ...[...open.values()].map(({ kind, op }) => `${kind} ${op} never ended`),
        ...missing.map(({ page }) => `page ${page} never received the results of some of its jobs`),
    ];
}

/** @param {readonly Event[]} events */
function wrongEnds(events) {
    /** When the database of each page last failed. @type {Map<string, number>} */
    const faults_ms = new Map();
    /** The pages of an older version, which a later one can exclude from what it has stored. @type {Set<string>} */
    const refused = new Set();
    let stopped_ms = -Infinity;
    /** @type {string[]} */
    const wrong = [];
    for (const [event, { isCalm }] of withPages(events)) {
        const { type, op = '', page, kind, ok, code = '', message, time_ms } = event;
        if (type === 'package' && event['mayBeRefused']) refused.add(page ?? '');
        if (type === 'fault') faults_ms.set(page ?? '', time_ms);
        if (type === 'disturbed' || type === 'calm') stopped_ms = time_ms;
        if (type !== 'end') continue;
        const mayFail =
            time_ms - (faults_ms.get(page ?? '') ?? -Infinity) < FAULT_EFFECT_MS ||
            time_ms - stopped_ms < STOP_EFFECT_MS;
        const allowed =
            ok ||
            ALWAYS.has(code) ||
            (AFTER_FAULTS.has(code) && mayFail) ||
            (WHILE_LEFT.has(code) && !isCalm) ||
            (code === 'version-mismatch' && refused.has(page ?? ''));
        if (!allowed) wrong.push(`${kind} ${op} failed with ${code}: ${message}`);
    }
    return wrong;
}
