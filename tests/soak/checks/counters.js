/** A counter's reads are between what was acknowledged and what was attempted. */

import { checkCounter } from '../../browser/harness/jepsen-counter.js';

/** @typedef {import('../event-log.js').Event} Event */

const TYPES = new Set(['attempt', 'acknowledge', 'read-begin', 'read-end']);

/** @param {readonly Event[]} events @returns {string[]} */
export function checkCounters(events) {
    /** @type {Map<string, any[]>} */
    const histories = new Map();
    for (const { type, name, plus, minus, op, value } of events) {
        if (!TYPES.has(type)) continue;
        const history = histories.get(name) ?? [];
        histories.set(name, history);
        history.push({ type, plus, minus, id: op, value });
    }
    return [...histories].flatMap(([name, history]) =>
        checkCounter(history).errors.map(
            ({ id, value, lower, upper }) =>
                `counter ${name}: the read ${id} gave ${value}, which is not from ${lower} to ${upper}`,
        ),
    );
}
