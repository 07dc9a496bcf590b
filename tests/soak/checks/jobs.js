/** Every job that was acknowledged is settled once: it has one mark, or it is one dead letter. */

import { groupBy } from './group-by.js';

/** @typedef {import('../event-log.js').Event} Event */

/** @param {readonly Event[]} events @returns {string[]} */
export function checkJobs(events) {
    if (!events.some(({ type }) => type === 'sizes')) return ['the test ended before its queue was read'];
    const acknowledged = events.filter(
        ({ type, kind, ok }) => type === 'end' && ok && String(kind).startsWith('enqueue'),
    );
    const jobs = new Set(acknowledged.map(({ job }) => job));
    const marks = distinct(events, 'mark', 'mark');
    const dead = distinct(events, 'dead', 'job');
    const settled = (/** @type {string} */ job) => (marks.get(job)?.size ?? 0) + (dead.get(job)?.size ?? 0);
    const all = new Set([...jobs, ...marks.keys(), ...dead.keys()]);
    return [
        ...[...jobs].filter((job) => settled(job) === 0).map((job) => `the job ${job} was lost`),
        ...[...all]
            .filter((job) => settled(job) > 1)
            .map((job) => `the job ${job} was settled ${settled(job)} times`),
        ...checkAttempts(events),
        ...checkResults(events, marks),
    ];
}

/**
 * The different values of a property, by the job.
 *
 * @param {readonly Event[]} events
 * @param {string} type
 * @param {string} key
 */
function distinct(events, type, key) {
    /** @type {Map<string, Set<unknown>>} */
    const found = new Map();
    for (const event of events)
        if (event.type === type) found.set(event.job, (found.get(event.job) ?? new Set()).add(event[key]));
    return found;
}

/** A job that may run at most once begins at most once. @param {readonly Event[]} events */
function checkAttempts(events) {
    const once = events.filter((event) => event.type === 'run' && event.once);
    const byJob = groupBy(once, ({ job }) => job);
    return [...byJob]
        .filter(([, runs]) => runs.length > 1)
        .map(([job, runs]) => `the job ${job} began ${runs.length} times, but may begin once`);
}

/**
 * A job whose caller got its result was settled, and the result is its own.
 *
 * @param {readonly Event[]} events
 * @param {Map<string, Set<unknown>>} marks
 */
function checkResults(events, marks) {
    const results = events.filter(({ type, code }) => type === 'result' && !code);
    return [
        ...results
            .filter(({ ok, job }) => ok && !marks.has(job))
            .map(({ job }) => `the job ${job} had a result, but no mark`),
        ...results.filter(({ ok }) => !ok).map(({ job }) => `the job ${job} had the result of another one`),
    ];
}
