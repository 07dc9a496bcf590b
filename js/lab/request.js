/** What is to be explored, checked before anything is done. */

import { invalid } from '../common/errors.js';
import { checkInteger, checkOneOf, checkOptions } from '../common/check-arguments.js';
import { STRATEGIES } from '../common/strategies.js';
import { faults } from './faults.js';

/** When the tabs see each other's writes to localStorage; the last is what browsers do. */
export const models = Object.freeze(/** @type {const} */ (['mutexed', 'interleaved', 'cached']));

export { faults };
export const strategies = STRATEGIES;

/**
 * @typedef {object} ExploreRequest
 * @property {import('../common/strategies.js').Strategy} strategy
 * @property {typeof models[number]} [model] by default `cached`
 * @property {number} [tabs] 1 to 64; by default 2
 * @property {number} [adds] increments of each tab, 0 to 1,000; by default 2
 * @property {readonly (typeof faults[number])[]} [faults] that may happen; by default none
 * @property {number} [faultBudget] how many of them in one run, 0 to 64; by default 1
 * @property {number} [preemptions] the preemption bound: where not every schedule can be explored, every one
 *   with at most so many preemptions, 0 to 1,000; by default 3
 * @property {number} [switches] deprecated: the same as `preemptions`
 * @property {number} [seeds] seeded schedules beyond, 0 to 10^9; by default 10,000
 * @property {number} [work] the steps after which a search counts as too long, 1 to 10^12; by
 *   default 5,000,000
 */

/** The least, the most and the default of each number. */
const numbers = /** @type {const} */ ({
    tabs: [1, 64, 2],
    adds: [0, 1000, 2],
    faultBudget: [0, 64, 1],
    preemptions: [0, 1000, 3],
    seeds: [0, 1e9, 10_000],
    work: [1, 1e12, 5e6],
});

/**
 * @param {unknown} given
 * @returns {import('./lab.js').Request}
 * @throws {TabacusError} `invalid-argument`, naming what was wrong
 */
export function checkRequest(given) {
    const names = ['strategy', 'model', 'faults', 'switches', ...Object.keys(numbers)];
    const { switches, ...request } = checkOptions(given, names, 'request');
    const { model = 'cached', faults: chosen = [] } = request;
    request.preemptions ??= switches;
    if (!Array.isArray(chosen)) throw invalid('faults', chosen, 'an array');
    /** @param {keyof typeof numbers} name */
    const number = (name) => {
        const [least, most, otherwise] = numbers[name];
        const { [name]: asked = otherwise } = request;
        return checkInteger(name, asked, least, most);
    };
    return {
        strategy: checkOneOf('strategy', request.strategy, strategies),
        model: checkOneOf('model', model, models),
        faults: chosen.map((fault) => checkOneOf('faults', fault, faults)),
        tabs: number('tabs'),
        adds: number('adds'),
        faultBudget: number('faultBudget'),
        preemptions: number('preemptions'),
        seeds: number('seeds'),
        work: number('work'),
    };
}
