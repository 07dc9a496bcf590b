/** The checker must reject wrong histories, or else every browser test that uses it proves nothing. */

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
    it('an empty history is valid', () => {
        assert.equal(checkCounter([]).valid, true);
    });
    it('a read must be the acknowledged total if no attempt is open', () => {
        assert.equal(checkCounter([attempt(5), acknowledge(5), ...read('a', 5)]).valid, true);
    });
    it('a lost increment breaks the rule', () => {
        assert.equal(checkCounter([attempt(5), acknowledge(5), ...read('a', 4)]).valid, false);
    });
    it('an increment that was counted twice breaks the rule', () => {
        assert.equal(checkCounter([attempt(5), acknowledge(5), ...read('a', 10)]).valid, false);
    });
    it('an increment with an unknown outcome raises only the upper bound', () => {
        const history = [attempt(5), acknowledge(5), attempt(3)];
        assert.deepEqual(bounds([...history, ...read('a', 5)]), [[5, 8]]);
        assert.equal(checkCounter([...history, ...read('a', 8)]).valid, true);
        assert.equal(checkCounter([...history, ...read('a', 9)]).valid, false);
        assert.equal(checkCounter([...history, ...read('a', 4)]).valid, false);
    });
    it('an increment counts as happened only if it was acknowledged when the read began', () => {
        const history = [attempt(5), begin('a'), acknowledge(5), attempt(2), end('a', 0)];
        assert.deepEqual(bounds(history), [[0, 7]]);
    });
    it('a decrement with an unknown outcome lowers only the lower bound', () => {
        assert.deepEqual(bounds([attempt(9, 4), acknowledge(2, 1), ...read('a', 0)]), [[-2, 8]]);
        assert.equal(checkCounter([attempt(0, 4), acknowledge(0, 4), ...read('a', 0)]).valid, false);
    });
    it('a value that is no number breaks the rule', () => {
        assert.equal(checkCounter([attempt(1), ...read('a', NaN)]).valid, false);
    });
    it('the rule holds for each read, and not only for the last', () => {
        const history = [attempt(5), acknowledge(5), ...read('a', 0), ...read('b', 5)];
        assert.deepEqual(
            checkCounter(history).errors.map(({ id }) => id),
            ['a'],
        );
        assert.throws(() => assertCounter(history), /1 of 2 reads are wrong: read a gave 0, not 5 to 5/);
    });
    it('an impossible history is an error', () => {
        assert.throws(() => checkCounter([acknowledge(1)]), /never attempted/);
        assert.throws(() => checkCounter([end('a', 0)]), /no beginning/);
    });
});
