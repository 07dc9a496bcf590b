/** The page of the laboratory: what to explore, how far the exploration is, and the run that breaks the strategy. */

import { make, one } from './dom.js';
import { showMatrix } from './lab-matrix.js';
import { ask } from './lab-question.js';
import { showTimeline } from './lab-timeline.js';
import { faults, models, strategies } from './package-lab.js';

/** @typedef {import('../js/lab.js').ExploreReport} ExploreReport */

const form = /** @type {HTMLFormElement} */ (one('#request'));
const start = /** @type {HTMLButtonElement} */ (one('#explore'));
const cancel = /** @type {HTMLButtonElement} */ (one('#cancel'));

/** @type {Worker | undefined} */
let worker;

/** @param {string} selector @param {readonly string[]} names @param {string} chosen */
function offer(selector, names, chosen) {
    const options = names.map((text) => /** @type {HTMLOptionElement} */ (make('option', { text })));
    for (const option of options) option.selected = option.text === chosen;
    one(selector).replaceChildren(...options);
}

function offerFaults() {
    const boxes = faults.map((fault) => {
        const box = /** @type {HTMLInputElement} */ (make('input'));
        Object.assign(box, { type: 'checkbox', name: 'faults', value: fault });
        return make('label', { class: 'chip' }, box, document.createTextNode(fault));
    });
    one('#faults').append(...boxes);
}

function chosen() {
    const data = new FormData(form);
    return {
        strategy: data.get('strategy'),
        model: data.get('model'),
        tabs: Number(data.get('tabs')),
        adds: Number(data.get('adds')),
        faults: data.getAll('faults'),
        work: 2_000_000,
    };
}

/** @param {string} text @param {string} state */
function setVerdict(text, state) {
    one('#lab-verdict').textContent = text;
    one('#lab').setAttribute('data-state', state);
}

/** @param {ExploreReport} report */
function show({ verdict, schedules, steps, bound, failure, seed, trace, svg }) {
    const far = `${schedules.toLocaleString('en')} schedules, ${steps.toLocaleString('en')} steps`;
    if (verdict === 'open') return setVerdict(`Exploring: ${far}`, 'running');
    if (verdict !== 'broken') {
        return setVerdict(`${verdict === 'proved' ? 'Proved' : 'Holds'}: ${bound} (${far})`, verdict);
    }
    setVerdict(`Broken: ${failure} (${far})`, 'broken');
    one('#seed').textContent = seed;
    showTimeline(trace ?? '');
    const diagram = /** @type {HTMLImageElement} */ (one('#diagram'));
    diagram.src = `data:image/svg+xml,${encodeURIComponent(svg ?? '')}`;
    /** @type {HTMLElement} */ (one('#counterexample')).hidden = false;
}

function end() {
    worker?.terminate();
    worker = undefined;
    start.disabled = false;
    cancel.disabled = true;
}

form.addEventListener('submit', (event) => {
    event.preventDefault();
    end();
    /** @type {HTMLElement} */ (one('#counterexample')).hidden = true;
    [start.disabled, cancel.disabled] = [true, false];
    setVerdict('Loading', 'running');
    worker = ask({ explore: chosen() }, ({ report, error, done }) => {
        if (report) show(report);
        if (error) setVerdict(error, 'failed');
        if (done || error) end();
    });
});
cancel.addEventListener('click', () => {
    end();
    setVerdict('Cancelled', 'cancelled');
});

offer('#strategy', strategies, 'locked');
offer('#model', models, 'cached');
offerFaults();
showMatrix();
start.disabled = false;
