/**
 * `tabacus/lab`: the laboratory. It runs a strategy in several simulated tabs, under every schedule and under
 * faults, and reports whether the strategy counts correctly.
 *
 * @example
 * import { explore } from 'tabacus/lab';
 * const report = await explore({ strategy: 'locked', model: 'cached', faults: ['kill'] });
 * console.log(report.verdict, report.trace);
 */

import { checkWasm } from './core/module.js';
import { invalid, TabacusError } from './common/errors.js';
import { loadLab, reportFrom } from './lab/lab-module.js';
import { checkRequest } from './lab/request.js';
import { inSlices } from './lab/slices.js';
import { checkInteger, checkOptions } from './common/check-arguments.js';
import { checkSignal } from './common/check-waits.js';

export { TabacusError } from './common/errors.js';
export { faults, models, strategies } from './lab/request.js';

/** @typedef {import('./lab/request.js').ExploreRequest} ExploreRequest */

/**
 * The report of an exploration, at its end or while it runs.
 *
 * @typedef {object} ExploreReport
 * @property {Required<Pick<import('./lab/request.js').ExploreRequest, 'strategy' | 'model' | 'tabs' | 'adds' | 'faults' | 'faultBudget'>>} request
 *   what was explored; for {@link replay}, what the seed encodes
 * @property {'open' | 'proved' | 'broken' | 'unbroken within the bound'} verdict `proved`: correct under
 *   every schedule of the request. `broken`: wrong in some run. `unbroken within the bound`: correct in all
 *   runs that were explored. `open`: the exploration has not ended
 * @property {number} schedules the number of complete runs
 * @property {number} steps the number of steps of all runs
 * @property {number} seconds the time that the exploration took
 * @property {boolean} exhausted whether every schedule within the bound was explored
 * @property {string} bound the bound, in words
 * @property {Record<string, number>} faults how often each fault happened
 * @property {string} failure what was wrong, in one sentence; empty unless `broken`
 * @property {string} complaint deprecated: the same as `failure`
 * @property {string} seed the run that failed, for {@link replay}; empty unless `broken`
 * @property {string} [trace] for a `broken` one: a line for each event of the run
 * @property {string} [svg] for a `broken` one: the trace as a sequence diagram
 */

/**
 * One cell of the matrix: a strategy under one storage model and one fault.
 *
 * @typedef {object} MatrixCell
 * @property {string} strategy
 * @property {'mutexed' | 'interleaved' | 'cached'} model
 * @property {string} fault `none`, or the fault that may happen once in a run
 * @property {boolean} explored
 * @property {string} declared what the strategy's guarantee states for the cell
 * @property {'proved' | 'broken' | 'unbroken within the bound' | 'not explored'} verdict
 * @property {boolean} contradicts whether a run violated the guarantee
 * @property {boolean} unfound whether the guarantee declares a loss or an excess that no run has shown
 * @property {(ExploreReport & { tabs: number, adds: number, sought: string })[]} parts
 */

/**
 * Options of all functions of the laboratory.
 *
 * @typedef {object} LabOptions
 * @property {AbortSignal} [signal] ends the exploration: the promise rejects with the signal's reason
 * @property {import('./core/module.js').WasmSource} [wasm] the source of lab.wasm, if it is not beside the
 *   package's modules
 */

/** @type {readonly (keyof LabOptions)[]} */
const common = ['signal', 'wasm'];

/** Checks these options. @param {Partial<Record<'signal' | 'wasm', unknown>>} options */
const checked = ({ signal, wasm }) => ({
    signal: checkSignal(signal),
    wasm: wasm === undefined ? undefined : checkWasm(wasm, 'wasm'),
});

/**
 * Makes an exploration of C++.
 *
 * @template Exploration
 * @param {() => Exploration} make
 * @returns {Exploration}
 * @throws {TabacusError} `invalid-argument` with the message of the C++ exception
 */
function begun(make) {
    try {
        return make();
    } catch (cause) {
        const { message } = /** @type {Error} */ (cause);
        throw new TabacusError('invalid-argument', message, { cause });
    }
}

/**
 * Explores one strategy until it is proved or broken, or until the limits of the request are reached. It runs
 * on the calling thread, in slices of some 40 ms: call it in a Worker.
 *
 * @param {ExploreRequest} request
 * @param {LabOptions & { progress?: (report: ExploreReport) => void }} [options] `progress` is called after
 *   each slice
 * @returns {Promise<ExploreReport>} rejects with `invalid-argument`; with `unavailable` if lab.wasm cannot be
 *   loaded; with the signal's reason
 */
export async function explore(request, options = {}) {
    const checkedRequest = checkRequest(request);
    const { progress, ...rest } = checkOptions(options, [...common, 'progress']);
    if (progress !== undefined && typeof progress !== 'function')
        throw invalid('progress', progress, 'a function');
    const { signal, wasm } = checked(rest);
    const lab = await loadLab(wasm);
    return inSlices(
        begun(() => new lab.Exploration(checkedRequest)),
        {
            signal,
            progress: /** @type {((report: ExploreReport) => void) | undefined} */ (progress),
        },
    );
}

/**
 * Repeats one run, and reports its trace.
 *
 * @param {string} seed the seed of a report of the same version of the package
 * @param {LabOptions} [options]
 * @returns {Promise<ExploreReport>} its verdict is `proved` if the run does not fail. Rejects with
 *   `invalid-argument` if `seed` is no seed, and as explore() does
 */
export async function replay(seed, options = {}) {
    if (typeof seed !== 'string') throw invalid('seed', seed, 'a string');
    const { signal, wasm } = checked(checkOptions(options, common));
    const lab = await loadLab(wasm);
    signal?.throwIfAborted();
    const report = lab.replay(seed);
    if (report === undefined) throw invalid('seed', seed, 'the seed of a report of this version');
    return reportFrom(report);
}

/**
 * Explores the matrix: every strategy under every storage model and every fault, one cell after another.
 *
 * @param {LabOptions & { work?: number, seeds?: number }} [options] the limits of each cell. `work`: the most
 *   steps of a search, an integer from 1 to 10^12; 20,000 by default. `seeds`: the number of random schedules
 *   after that, an integer from 0 to 10^9; 100 by default
 * @returns {AsyncGenerator<MatrixCell, void, void>}
 */
export async function* matrix(options = {}) {
    const { work = 20_000, seeds = 100, ...rest } = checkOptions(options, [...common, 'work', 'seeds']);
    const { signal, wasm } = checked(rest);
    const workMax = checkInteger('work', work, 1, 1e12);
    const seedsMax = checkInteger('seeds', seeds, 0, 1e9);
    const lab = await loadLab(wasm);
    const all = new lab.Matrix(workMax, seedsMax);
    try {
        const count = all.cellCount();
        for (let index = 0; index < count; ++index) {
            const cell = /** @type {import('./lab/lab.js').CellExploration} */ (begun(() => all.cell(index)));
            yield await inSlices(cell, { signal, progress: undefined });
        }
    } finally {
        all.delete();
    }
}
