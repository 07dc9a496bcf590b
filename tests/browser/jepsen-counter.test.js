/** The checker must reject wrong histories, or every browser test that trusts it proves nothing. */

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';

import { assertCounter, checkCounter } from './harness/jepsen-counter.js';

/** @typedef {import('./harness/jepsen-counter.js').Event} Event */

/** @param {number} plus @param {number} [minus] @returns {Event} */
const attempt = (plus, minus = 0) => ({ type: 'attempt', plus, minus });
/** @param {number} plus @param {number} [minus] @returns {Event} */
const acknowledge = (plus, minus = 0) => ({ type: 'acknowledge', plus, minus });
/** @param {string} id @returns {Event} */
const begin = (id) => ({ type: 'read-begin', id });
/** @param {string} id @param {number} value @returns {Event} */
const end = (id, value) => ({ type: 'read-end', id, value });
/** @param {string} id @param {number} value */
const read = (id, value) => [begin(id), end(id, value)];

/** @param {Event[]} history */
const bounds = (history) => checkCounter(history).reads.map(({ lower, upper }) => [lower, upper]);

describe("Jepsen's counter rule", () => {
    it('accepts an empty history', () => {
        assert.equal(checkCounter([]).valid, true);
    });
    it('wants exactly what was acknowledged when nothing is open', () => {
        assert.equal(checkCounter([attempt(5), acknowledge(5), ...read('a', 5)]).valid, true);
    });
    it('rejects a lost increment', () => {
        assert.equal(checkCounter([attempt(5), acknowledge(5), ...read('a', 4)]).valid, false);
    });
    it('rejects an increment that was counted twice', () => {
        assert.equal(checkCounter([attempt(5), acknowledge(5), ...read('a', 10)]).valid, false);
    });
    it('lets an unknown outcome widen only the upper bound', () => {
        const history = [attempt(5), acknowledge(5), attempt(3)];
        assert.deepEqual(bounds([...history, ...read('a', 5)]), [[5, 8]]);
        assert.equal(checkCounter([...history, ...read('a', 8)]).valid, true);
        assert.equal(checkCounter([...history, ...read('a', 9)]).valid, false);
        assert.equal(checkCounter([...history, ...read('a', 4)]).valid, false);
    });
    it('counts as happened only what was acknowledged when the read began', () => {
        const history = [attempt(5), begin('a'), acknowledge(5), attempt(2), end('a', 0)];
        assert.deepEqual(bounds(history), [[0, 7]]);
    });
    it('turns the bounds around for decrements', () => {
        assert.deepEqual(bounds([attempt(9, 4), acknowledge(2, 1), ...read('a', 0)]), [[-2, 8]]);
        assert.equal(checkCounter([attempt(0, 4), acknowledge(0, 4), ...read('a', 0)]).valid, false);
    });
    it('rejects a value that is no number', () => {
        assert.equal(checkCounter([attempt(1), ...read('a', NaN)]).valid, false);
    });
    it('judges each read, not only the last', () => {
        const history = [attempt(5), acknowledge(5), ...read('a', 0), ...read('b', 5)];
        assert.deepEqual(
            checkCounter(history).errors.map(({ id }) => id),
            ['a'],
        );
        assert.throws(() => assertCounter(history), /1 of 2 reads are wrong: read a gave 0, not 5 to 5/);
    });
    it('refuses histories that cannot be', () => {
        assert.throws(() => checkCounter([acknowledge(1)]), /never attempted/);
        assert.throws(() => checkCounter([end('a', 0)]), /no beginning/);
    });
});
