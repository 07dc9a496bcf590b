/** Checks of a request for an exploration, which are made before anything else is done. */

import { invalid } from '../common/errors.js';
import { checkInteger, checkOneOf, checkOptions } from '../common/check-arguments.js';
import { STRATEGIES } from '../common/strategies.js';
import { faults } from './faults.js';

/**
 * The storage models: when a tab sees what other tabs write to localStorage. Browsers implement the last one.
 */
export const models = Object.freeze(/** @type {const} */ (['mutexed', 'interleaved', 'cached']));

export { faults };
export const strategies = STRATEGIES;

/**
 * What to explore. All numbers are integers.
 *
 * @typedef {object} ExploreRequest
 * @property {import('../common/strategies.js').Strategy} strategy
 * @property {typeof models[number]} [model] the storage model; `cached` by default
 * @property {number} [tabs] the number of tabs, from 1 to 64; 2 by default
 * @property {number} [adds] the number of increments of each tab, from 0 to 1,000; 2 by default
 * @property {readonly (typeof faults[number])[]} [faults] the faults that may happen; none by default
 * @property {number} [faultBudget] how many faults may happen in one run, from 0 to 64; 1 by default
 * @property {number} [preemptions] the preemption bound, from 0 to 1,000; 3 by default. If there are too many
 *   schedules to explore all of them, those with at most so many preemptions are explored
 * @property {number} [switches] deprecated: the same as `preemptions`
 * @property {number} [seeds] the number of random schedules that are explored after that, from 0 to 10^9;
 *   10,000 by default
 * @property {number} [work] the most steps of a search, from 1 to 10^12; 5,000,000 by default
 */

/** The least value, the largest value and the default of each number. */
const numbers = /** @type {const} */ ({
    tabs: [1, 64, 2],
    adds: [0, 1000, 2],
    faultBudget: [0, 64, 1],
    preemptions: [0, 1000, 3],
    seeds: [0, 1e9, 10_000],
    work: [1, 1e12, 5e6],
});

/**
 * Checks a request, and returns it with the defaults.
 *
 * @param {unknown} given
 * @returns {import('./lab.js').Request}
 * @throws {TabacusError} `invalid-argument`, with the name of the property
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
