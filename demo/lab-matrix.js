/** Shows the matrix. A Worker computes it cell by cell once the button is pressed. */

import { make, one } from './dom.js';
import { ask } from './lab-question.js';

/** @typedef {import('../js/lab.js').MatrixCell} MatrixCell */

const SIGNS = {
    proved: 'proved',
    'unbroken within the bound': 'holds',
    broken: 'broken',
    'not explored': '–',
};

const table = () => /** @type {HTMLElement} */ (one('#matrix-table'));

export function showMatrix() {
    const [start, cancel] = ['#matrix-start', '#matrix-cancel'].map(
        (selector) => /** @type {HTMLButtonElement} */ (one(selector)),
    );
    if (!start || !cancel) return;
    /** @type {Worker | undefined} */
    let worker;
    const end = () => {
        worker?.terminate();
        [start.disabled, cancel.disabled] = [false, true];
    };
    start.addEventListener('click', () => {
        [start.disabled, cancel.disabled] = [true, false];
        table().hidden = true;
        one('#matrix-head').replaceChildren();
        one('#matrix-body').replaceChildren();
        one('#matrix-status').textContent = 'Loading';
        worker = ask({ matrix: true }, ({ cell, error, done }) => {
            if (cell) showCell(cell);
            if (error) one('#matrix-status').textContent = error;
            if (done || error) end();
        });
    });
    cancel.addEventListener('click', () => {
        end();
        one('#matrix-status').textContent = 'Cancelled';
    });
}

/** @param {MatrixCell} cell */
function showCell({ strategy, model, fault, verdict, declared, parts }) {
    const row = rowOf(strategy, model);
    const column = row.children.length - 1;
    const head = one('#matrix-head');
    if (head.children.length === 0) {
        head.append(headed('strategy', 'col'), headed('model', 'col'));
    }
    if (head.children.length <= column + 1) head.append(headed(fault, 'col'));
    const box = make('td', { text: SIGNS[verdict], class: verdict.split(' ')[0] ?? '' });
    const why = parts.map(({ failure, bound }) => failure || bound).join('\n');
    box.title = `declared: ${declared}\n${why}`;
    row.append(box);
    table().hidden = false;
    one('#matrix-status').textContent = `${strategy}, ${model}, ${fault}: ${verdict}`;
}

/** @param {string} strategy @param {string} model */
function rowOf(strategy, model) {
    const body = one('#matrix-body');
    const last = body.lastElementChild;
    if (last?.getAttribute('data-row') === `${strategy}/${model}`) return last;
    const row = make('tr', {}, headed(strategy, 'row'), make('td', { text: model }));
    row.setAttribute('data-row', `${strategy}/${model}`);
    body.append(row);
    return row;
}

/** @param {string} text @param {'col' | 'row'} scope */
function headed(text, scope) {
    const cell = make('th', { text });
    cell.setAttribute('scope', scope);
    return cell;
}
