/**
 * Locks, semaphores and leaders exclude, and their tokens rise.
 *
 * A page that is disturbed or gone counts as holding nothing. A hold that its page reports as lost may overlap the next
 * one for as long as that report takes: what such a holder still does is fenced, which ./stored.js checks.
 */

import { withPages } from './pages.js';

/** @typedef {import('../event-log.js').Event} Event */

/** @typedef {{ op: string, page: string, token: number | null, shared: boolean, loss_ms: number }} Hold */

/** The time from the grant of a lock to another holder to the former holder's report that it has lost it. */
const REPORT_MS = 15_000;

/** @param {readonly Event[]} events @returns {string[]} */
export function checkHolds(events) {
    const losses_ms = lossesOf(events);
    /** @type {Map<string, Hold[]>} */
    const open = new Map();
    /** @type {Map<string, number>} */
    const lastTokens = new Map();
    /** The period of a page in which an operation began. @type {Map<string, number>} */
    const periods = new Map();
    /** @type {string[]} */
    const violations = [];
    for (const [event, state] of withPages(events)) {
        const { type, op = '', page = '', name, token = null, shared = false, permits = 1 } = event;
        if (type === 'begin') periods.set(op, state.period);
        if (type === 'disturbed' || type === 'gone') dropPage(open, page);
        if (type === 'release')
            open.set(
                name,
                (open.get(name) ?? []).filter((hold) => hold.op !== op),
            );
        const isCalm = state.isCalm && periods.get(op) === state.period;
        const loss_ms = losses_ms.get(`${op} ${name}`) ?? Infinity;
        if (type !== 'hold' || !isCalm || loss_ms <= event.time_ms) continue;
        const hold = { op, page, token, shared, loss_ms };
        const others = (open.get(name) ?? []).filter((other) => other.loss_ms > event.time_ms + REPORT_MS);
        violations.push(...overlaps(name, hold, others, permits));
        if (!shared && permits === 1) violations.push(...tokenFaults(name, hold, lastTokens));
        open.set(name, [...others, hold]);
    }
    return violations;
}

/** When each hold was reported as lost, by its operation and the name. @param {readonly Event[]} events */
const lossesOf = (events) =>
    new Map(
        events
            .filter(({ type }) => type === 'lost')
            .map(({ op, name, time_ms }) => [`${op} ${name}`, time_ms]),
    );

/** @param {Map<string, Hold[]>} open @param {string} page */
function dropPage(open, page) {
    for (const [name, holds] of open)
        open.set(
            name,
            holds.filter((hold) => hold.page !== page),
        );
}

/** @param {string} name @param {Hold} hold @param {Hold[]} others @param {number} permits @returns {string[]} */
function overlaps(name, hold, others, permits) {
    const conflicting = others.filter((other) => !(hold.shared && other.shared));
    if (conflicting.length < permits) return [];
    return [
        `${name} was held by ${hold.op} and at the same time by ${conflicting.map(({ op }) => op).join()}`,
    ];
}

/** @param {string} name @param {Hold} hold @param {Map<string, number>} lastTokens @returns {string[]} */
function tokenFaults(name, { op, token }, lastTokens) {
    const last = lastTokens.get(name) ?? 0;
    lastTokens.set(name, Math.max(last, token ?? 0));
    return token !== null && token > last ? [] : [`${name}: ${op} got the token ${token} after ${last}`];
}
