/** What is to be explored, checked before anything is done. */

import { invalid } from '../common/errors.js';
import { checkInteger, checkOneOf, checkOptions } from '../common/check-arguments.js';
import { STRATEGIES } from '../common/strategies.js';
import { faults } from './faults.js';

/** Who sees localStorage when; the last is what browsers do. */
export const models = Object.freeze(/** @type {const} */ (['mutexed', 'interleaved', 'cached']));

export { faults };
export const strategies = STRATEGIES;

/**
 * @typedef {object} ExploreRequest
 * @property {import('../common/strategies.js').Strategy} strategy
 * @property {typeof models[number]} [model] unless said otherwise, `cached`
 * @property {number} [tabs] 1 to 64; unless said otherwise, 2
 * @property {number} [adds] increments of each tab, 0 to 1,000; unless said otherwise, 2
 * @property {readonly (typeof faults[number])[]} [faults] that may happen; unless said otherwise, none
 * @property {number} [faultBudget] how many of them in one run, 0 to 64; unless said otherwise, 1
 * @property {number} [switches] where not every schedule can be explored, every one with at most so many
 *   switches between tabs, 0 to 1,000; unless said otherwise, 3
 * @property {number} [seeds] seeded schedules beyond, 0 to 10^9; unless said otherwise, 10,000
 * @property {number} [work] the steps after which a search counts as too long, 1 to 10^12; unless said
 *   otherwise, 5,000,000
 */

/** @type {Record<string, readonly [least: number, most: number, otherwise: number]>} */
const numbers = {
    tabs: [1, 64, 2],
    adds: [0, 1000, 2],
    faultBudget: [0, 64, 1],
    switches: [0, 1000, 3],
    seeds: [0, 1e9, 10_000],
    work: [1, 1e12, 5e6],
};

/**
 * @param {unknown} given
 * @returns {string} as wasm/src/lab/report/request_text.hpp has it
 */
export function requestText(given) {
    const request = checkOptions(given, ['strategy', 'model', 'faults', ...Object.keys(numbers)], 'request');
    const { model = 'cached', faults: chosen = [] } = request;
    if (!Array.isArray(chosen)) throw invalid('faults', chosen, 'an array');
    const lines = [
        `strategy=${checkOneOf('strategy', request.strategy, strategies)}`,
        `model=${checkOneOf('model', model, models)}`,
        `faults=${chosen.map((fault) => checkOneOf('faults', fault, faults)).join(',')}`,
    ];
    for (const [name, [least, most, otherwise]] of Object.entries(numbers)) {
        const { [name]: asked = otherwise } = request;
        const value = checkInteger(name, asked, least, most);
        lines.push(`${name === 'faultBudget' ? 'fault-budget' : name}=${value}`);
    }
    return lines.join('\n');
}
