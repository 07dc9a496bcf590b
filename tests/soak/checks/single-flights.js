/** A key of once() has one value until it is forgotten, and a forgotten value is never returned again. */

import { groupBy } from './group-by.js';

/** @typedef {import('../event-log.js').Event} Event */

/** The calls that got a value: the first that began, and the last that ended. @typedef {{ key: string, firstBegin: number, lastBegin: number, firstEnd: number, lastEnd: number }} Value */

/** @param {readonly Event[]} events @returns {string[]} */
export function checkSingleFlights(events) {
    const { values, forgets } = collect(events);
    const byKey = groupBy(values, ([, { key }]) => key);
    return [...byKey].flatMap(([key, of]) => {
        const own = forgets.filter((forget) => forget.key === key);
        return [...of.flatMap((value) => resurrected(value, own)), ...twoValues(of, own)];
    });
}

/** @param {readonly Event[]} events */
function collect(events) {
    /** @type {Map<string, number>} */
    const begins = new Map();
    /** @type {Map<string, Value>} */
    const values = new Map();
    /** @type {Map<string, { key: string, begin: number, end: number }>} */
    const forgets = new Map();
    events.forEach(({ type, kind, op = '', ok, key, value }, at) => {
        if (type === 'once-begin') begins.set(op, at);
        if (type === 'forget-begin') forgets.set(op, { key, begin: at, end: Infinity });
        const forget = forgets.get(op);
        if (type === 'end' && ok && forget) forget.end = at;
        if (type !== 'end' || kind !== 'once' || !ok) return;
        const begin = begins.get(op) ?? at;
        const known = values.get(value) ?? {
            key,
            firstBegin: begin,
            lastBegin: begin,
            firstEnd: at,
            lastEnd: at,
        };
        values.set(value, {
            key,
            firstBegin: Math.min(known.firstBegin, begin),
            lastBegin: Math.max(known.lastBegin, begin),
            firstEnd: Math.min(known.firstEnd, at),
            lastEnd: Math.max(known.lastEnd, at),
        });
    });
    return { values: [...values], forgets: [...forgets.values()] };
}

/** @param {[string, Value]} entry @param {{ begin: number, end: number }[]} forgets @returns {string[]} */
const resurrected = ([value, { key, firstEnd, lastBegin }], forgets) =>
    forgets.some(({ begin, end }) => firstEnd < begin && end < lastBegin)
        ? [`once ${key}: the value ${value} was returned after it had been forgotten`]
        : [];

/**
 * Values in the order of their first ends: between each two of them the key was being forgotten.
 *
 * @param {[string, Value][]} values
 * @param {{ begin: number, end: number }[]} forgets
 * @returns {string[]}
 */
function twoValues(values, forgets) {
    const inOrder = values.toSorted(([, a], [, b]) => a.firstEnd - b.firstEnd);
    return inOrder.slice(1).flatMap(([value, { key, lastEnd }], index) => {
        const [former, { firstBegin }] = /** @type {[string, Value]} */ (inOrder[index]);
        if (forgets.some(({ begin, end }) => begin < lastEnd && end > firstBegin)) return [];
        return [`once ${key}: the values ${former} and ${value}, but nothing was forgotten in between`];
    });
}
