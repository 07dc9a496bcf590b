/**
 * Compares what was acknowledged in a soak test with what is there. Each check takes the events of the log and returns
 * the violations that it finds, as texts. A violation is a fault of the library (or of the test).
 */

import { checkBounds } from './checks/bounds.js';
import { checkCounters } from './checks/counters.js';
import { checkEndings } from './checks/endings.js';
import { checkHolds } from './checks/holds.js';
import { checkJobs } from './checks/jobs.js';
import { checkLimits } from './checks/limits.js';
import { checkSingleFlights } from './checks/single-flights.js';
import { checkStored } from './checks/stored.js';
import { checkWaits, longestWaits } from './checks/waits.js';

/** @typedef {import('./event-log.js').Event} Event */

/**
 * @typedef {object} Verdict
 * @property {string[]} violations
 * @property {Record<string, unknown>} figures  what was done, and what is there at the end
 */

const CHECKS = [
    checkEndings,
    checkWaits,
    checkCounters,
    checkHolds,
    checkStored,
    checkSingleFlights,
    checkLimits,
    checkJobs,
    checkBounds,
];

/**
 * Checks a log.
 *
 * @param {readonly Event[]} events
 * @returns {Verdict}
 */
export const check = (events) => ({
    violations: CHECKS.flatMap((one) => one(events)),
    figures: figuresOf(events),
});

/** The number of items with each name, the most frequent first. @param {string[]} names */
function countEach(names) {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
    return Object.fromEntries([...counts].sort(([, a], [, b]) => b - a));
}

/** @param {readonly Event[]} events */
function figuresOf(events) {
    const ends = events.filter(({ type }) => type === 'end');
    const memory = events.filter(({ type }) => type === 'memory');
    const sizes = events.find(({ type }) => type === 'sizes');
    const named = (/** @type {string} */ type, /** @type {string} */ key) =>
        countEach(events.filter((event) => event.type === type).map((event) => event[key]));
    return {
        operations: countEach(ends.filter(({ ok }) => ok).map(({ kind }) => kind)),
        failures: countEach(ends.filter(({ ok }) => !ok).map(({ kind, code }) => `${kind}: ${code}`)),
        steps: named('step', 'what'),
        warnings: named('warning', 'code'),
        lost: events.filter(({ type }) => type === 'lost').length,
        longestWaits: longestWaits(events),
        rows: sizes?.rows,
        keys: sizes?.keys,
        locks: sizes?.locks,
        megabytes: memory.map(({ bytes }) => Math.round(bytes / 2 ** 20)),
    };
}
