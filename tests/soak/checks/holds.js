/**
 * Locks, semaphores and leaders exclude, and their tokens rise.
 *
 * A page that is disturbed or gone counts as holding nothing. A hold that its page reported as lost ends when the next
 * one begins: what such a holder still does is fenced, which ./stored.js checks.
 */

import { withPages } from './pages.js';

/** @typedef {import('../event-log.js').Event} Event */

/** @typedef {{ op: string, page: string, token: number | null, shared: boolean }} Hold */

/** @param {readonly Event[]} events @returns {string[]} */
export function checkHolds(events) {
    const lost = new Set(events.filter(({ type }) => type === 'lost').map(({ op, name }) => `${op} ${name}`));
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
        if (type !== 'hold' || !isCalm || lost.has(`${op} ${name}`)) continue;
        const hold = { op, page, token, shared };
        const others = open.get(name) ?? [];
        violations.push(...overlaps(name, hold, others, permits));
        if (!shared && permits === 1) violations.push(...tokenFaults(name, hold, lastTokens));
        open.set(name, [...others, hold]);
    }
    return violations;
}

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
