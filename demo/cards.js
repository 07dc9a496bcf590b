/** Shows a card for each strategy, with its value, buttons, and its result in the last race. */

import { make, one, showNumber, stamp } from './dom.js';
import { compact, integer, percent } from './format.js';
import { lostShare } from './race.js';
import { STRATEGIES } from './strategies.js';

/** @typedef {import('./strategies.js').StrategyName} StrategyName */

/**
 * @param {import('./strategies.js').Counters} counters
 * @param {(error: unknown) => void} report
 */
export function showCards(counters, report) {
    one('#cards').replaceChildren(...STRATEGIES.map((strategy) => card(strategy, counters, report)));
}

/**
 * @param {import('./strategies.js').Strategy} strategy
 * @param {import('./strategies.js').Counters} counters
 * @param {(error: unknown) => void} report
 */
function card({ name, tag, what }, counters, report) {
    const counter = counters[name];
    const element = one('.card', stamp('card'));
    element.setAttribute('data-strategy', name);
    // The content security policy allows styles that a script sets through the CSSOM.
    /** @type {HTMLElement} */ (element).style.setProperty('--colour', `var(--${name})`);
    one('h3', element).textContent = name;
    one('.tag', element).textContent = tag;
    one('.what', element).textContent = what;
    one('.promise dl', element).append(...promises(counter.guarantee));
    counter.subscribe((/** @type {number} */ value) => showNumber(role(element, 'value'), value, integer));
    for (const button of element.querySelectorAll('button')) {
        const amount = Number(button.dataset['add']);
        button.setAttribute('aria-label', `${amount > 0 ? 'Add one to' : 'Take one from'} ${name}`);
        button.addEventListener('click', () => add(counter, amount).catch(report));
    }
    return element;
}

/**
 * @param {import('./strategies.js').Counter} counter
 * @param {number} amount
 */
async function add(counter, amount) {
    await counter.add(amount);
}

/** @param {import('../js/index.js').Guarantee} guarantee */
function promises({ lost, readsWait, accuracy, rowsPerCounter, needs, durability }) {
    const facts = Object.entries({
        'Can be lost': lost,
        'A read waits for': readsWait,
        'A read returns': accuracy,
        Stores: rowsPerCounter,
        Needs: needs.join(', '),
        Durability: durability,
    });
    return facts.map(([term, text]) =>
        make('div', {}, make('dt', { text: term }), make('dd', { text: text || 'nothing' })),
    );
}

/** @param {StrategyName} strategy */
const cardOf = (strategy) => /** @type {HTMLElement} */ (one(`.card[data-strategy="${strategy}"]`));

/**
 * @param {ParentNode} within
 * @param {string} name
 * @returns {HTMLDataElement}
 */
const role = (within, name) => one(`[data-role="${name}"]`, within);

/** Removes the results of the last race from all cards. */
export function clearResults() {
    for (const { name } of STRATEGIES) {
        const element = cardOf(name);
        element.dataset['verdict'] = 'none';
        for (const data of /** @type {NodeListOf<HTMLDataElement>} */ (
            element.querySelectorAll('.result data')
        )) {
            data.value = '';
            data.textContent = '–';
            data.style.removeProperty('--length');
        }
    }
}

/** @param {StrategyName | null} strategy  the one that runs, or null if none does */
export function markRunning(strategy) {
    for (const { name } of STRATEGIES) {
        cardOf(name).toggleAttribute('data-running', name === strategy);
        for (const button of cardOf(name).querySelectorAll('button')) {
            button.disabled = strategy !== null;
        }
    }
}

/**
 * @param {StrategyName} strategy
 * @param {number} attempted  by all tabs so far
 */
export function showAttempted(strategy, attempted) {
    showNumber(role(cardOf(strategy), 'attempted'), attempted, integer);
}

/** @param {import('./race.js').Outcome} outcome */
export function showOutcome({ strategy, attempted, counted, lost, rate }) {
    const element = cardOf(strategy);
    const share = lostShare({ attempted, lost });
    // A race without increments proves nothing.
    const idle = attempted === 0 && lost === 0;
    element.dataset['verdict'] = idle ? 'none' : lost === 0 ? 'exact' : 'lost';
    if (!idle) showNumber(role(element, 'lost-share'), share, percent);
    showNumber(role(element, 'attempted'), attempted, integer);
    showNumber(role(element, 'counted'), counted, integer);
    showNumber(role(element, 'lost'), lost, integer);
    showNumber(role(element, 'rate'), rate, compact);
    const kept = Math.min(1, Math.max(0, 1 - share));
    /** @type {HTMLElement} */ (one('.bar span', element)).style.setProperty('--kept', String(kept));
}
