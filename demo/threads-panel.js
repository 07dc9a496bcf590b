/** Shows the threads: buttons and a table, or why there is no shared memory. */

import { make, one, showNumber, stamp } from './dom.js';
import { integer } from './format.js';

/** @typedef {import('./threads.js').Kind} Kind */

/** @param {(error: unknown) => void} report */
export async function showThreads(report) {
    if (globalThis.crossOriginIsolated) return showTable(report).catch(report);
    one('#threads-body').replaceChildren(stamp('threads-missing'));
    enter('unavailable');
    one('#isolate').addEventListener('click', () => askForIsolation().catch(report));
}

async function askForIsolation() {
    const { isolate } = await loadIsolation();
    const answer = one('#isolate-answer');
    const answers = {
        isolated: 'This page is isolated already.',
        reloading: 'Loading the page again.',
        unavailable: 'There are no service workers here: the address must be https, or localhost.',
        refused: 'The service worker is in place, and this browser still does not isolate the page.',
    };
    answer.textContent = answers[await isolate('./isolation-worker.js')];
}

/** @returns {Promise<typeof import('../web/isolation.js')>} */
function loadIsolation() {
    const address = './isolation.js';
    return import(address);
}

/** @param {(error: unknown) => void} report */
async function showTable(report) {
    const { KINDS, WORKERS, ADDS, hireCrew } = await import('./threads.js');
    one('#threads-body').replaceChildren(stamp('threads-table'));
    one('#threads-body tbody').append(...KINDS.map(row));
    /** @type {Map<Kind, number>} */
    const expected = new Map(KINDS.map((kind) => [kind, 0]));
    /** @type {Promise<import('./threads.js').Crew> | undefined} */
    let crew;

    /** @param {'workers' | 'cpp'} runner @param {number} amount */
    const run = async (runner, amount) => {
        crew ??= hireCrew();
        const add = (await crew)[runner];
        for (const kind of KINDS) {
            expected.set(kind, (expected.get(kind) ?? 0) + WORKERS * ADDS * amount);
            showResult(await add(kind, amount), expected.get(kind) ?? 0);
        }
        conclude(runner, WORKERS * ADDS * KINDS.length);
    };
    for (const button of buttons()) {
        const runner = button.dataset['run'] === 'cpp' ? 'cpp' : 'workers';
        const amount = Number(button.dataset['amount']);
        button.addEventListener('click', () => busy(() => run(runner, amount)).catch(report));
    }
    enter('idle');
}

/** @param {Kind} kind */
function row(kind) {
    const cells = ['expected', 'actual', 'missing', 'time'].map((role) => {
        const data = make('data', { text: '–' });
        data.dataset['role'] = role;
        return make('td', {}, data);
    });
    const head = make('th', { text: kind });
    head.setAttribute('scope', 'row');
    const element = make('tr', {}, head, ...cells);
    element.dataset['kind'] = kind;
    return element;
}

/**
 * @param {import('./threads.js').Result} result
 * @param {number} expected
 */
function showResult({ kind, actual, elapsed_ms }, expected) {
    const element = /** @type {HTMLElement} */ (one(`tr[data-kind="${kind}"]`));
    /** @param {string} role @returns {HTMLDataElement} */
    const cell = (role) => one(`[data-role="${role}"]`, element);
    showNumber(cell('expected'), expected, integer);
    showNumber(cell('actual'), actual, integer);
    showNumber(cell('missing'), expected - actual, integer);
    showNumber(cell('time'), elapsed_ms, (time_ms) => `${time_ms.toFixed(1)} ms`);
    element.dataset['verdict'] = actual === expected ? 'exact' : 'lost';
}

/**
 * Shows how much of everything that was added to the unsynchronised counter is missing.
 *
 * @param {'workers' | 'cpp'} runner
 * @param {number} adds
 */
function conclude(runner, adds) {
    const missing = (/** @type {string} */ kind) =>
        Number(/** @type {HTMLDataElement} */ (one(`tr[data-kind="${kind}"] [data-role="missing"]`)).value);
    const others = ['atomic', 'mutexed', 'striped'].every((kind) => missing(kind) === 0);
    const crew = runner === 'cpp' ? 'C++ threads' : 'Workers';
    const exact = others ? 'Atomic, mutexed and striped are exact' : 'A counter that must be exact is not';
    const off = Math.abs(missing('unsynchronised'));
    const loss =
        off === 0 ? 'unsynchronised was lucky, so press again' : `unsynchronised is off by ${integer(off)}`;
    one('#threads-verdict').textContent = `${crew} added ${integer(adds)} times. ${exact}; ${loss}.`;
}

/** @param {() => Promise<void>} work */
async function busy(work) {
    enter('running');
    for (const button of buttons()) button.disabled = true;
    try {
        await work();
    } finally {
        for (const button of buttons()) button.disabled = false;
        enter('done');
    }
}

/** @returns {NodeListOf<HTMLButtonElement>} */
const buttons = () => one('#threads-body').querySelectorAll('button[data-run]');

/** @param {'idle' | 'running' | 'done' | 'unavailable'} state */
function enter(state) {
    /** @type {HTMLElement} */ (one('#threads')).dataset['state'] = state;
}
