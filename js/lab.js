/**
 * The laboratory: how strategies count when several tabs run under every schedule, and under faults.
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
 * What is known of an exploration, at its end or meanwhile.
 *
 * @typedef {object} ExploreReport
 * @property {Required<Pick<import('./lab/request.js').ExploreRequest, 'strategy' | 'model' | 'tabs' | 'adds' | 'faults' | 'faultBudget'>>} request
 *   what was explored; of {@link replay}, the seed's
 * @property {'open' | 'proved' | 'broken' | 'unbroken within the bound'} verdict `proved`: under every
 *   schedule of the request; `open`: it has not ended
 * @property {number} schedules complete runs
 * @property {number} steps
 * @property {number} seconds
 * @property {boolean} exhausted every schedule within some bound was explored
 * @property {string} bound which, in words
 * @property {Record<string, number>} faults how often each happened
 * @property {string} failure what was wrong, in one sentence; empty unless broken
 * @property {string} complaint deprecated: the same as `failure`
 * @property {string} seed the run that broke it, for {@link replay}; empty unless broken
 * @property {string} [trace] of a broken one: a line for each thing that happened
 * @property {string} [svg] the same as a sequence diagram
 */

/**
 * One cell of the matrix.
 *
 * @typedef {object} MatrixCell
 * @property {string} strategy
 * @property {'mutexed' | 'interleaved' | 'cached'} model
 * @property {string} fault `none`, or what may happen once in a run
 * @property {boolean} explored
 * @property {string} declared what the strategy's guarantee says
 * @property {'proved' | 'broken' | 'unbroken within the bound' | 'not explored'} verdict
 * @property {boolean} contradicts it does what its guarantee says it never does
 * @property {boolean} unfound it declares what was not found
 * @property {(ExploreReport & { tabs: number, adds: number, sought: string })[]} parts
 */

/**
 * @typedef {object} LabOptions
 * @property {AbortSignal} [signal] ends it; the promise is rejected with its reason
 * @property {import('./core/module.js').WasmSource} [wasm] where lab.wasm is to be had, unless beside the
 *   package's modules
 */

/** @type {readonly (keyof LabOptions)[]} */
const common = ['signal', 'wasm'];

/** @param {Partial<Record<'signal' | 'wasm', unknown>>} options */
const checked = ({ signal, wasm }) => ({
    signal: checkSignal(signal),
    wasm: wasm === undefined ? undefined : checkWasm(wasm, 'wasm'),
});

/**
 * @template Exploration
 * @param {() => Exploration} make
 * @returns {Exploration}
 * @throws {TabacusError} `invalid-argument` with the text of what C++ throws
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
 * Explores one strategy until it is proved, broken, or as far as the request goes. It works on the thread
 * that calls it, in slices of some 40 ms: call it in a Worker.
 *
 * @param {ExploreRequest} request
 * @param {LabOptions & { progress?: (report: ExploreReport) => void }} [options] `progress` is called after
 *   each slice
 * @returns {Promise<ExploreReport>}
 * @throws {TabacusError} `invalid-argument`, naming what was wrong; `unavailable` without lab.wasm
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
 * A run again, with its trace.
 *
 * @param {string} seed as a report has it
 * @param {LabOptions} [options]
 * @returns {Promise<ExploreReport>} `proved` if that run does not break any more
 * @throws {TabacusError} `invalid-argument` for what is no seed
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
 * The matrix: every strategy under every model and fault, a cell at a time.
 *
 * @param {LabOptions & { work?: number, seeds?: number }} [options] how far: `work` is the steps of each
 *   search, 1 to 10^12 and 20,000 by default; `seeds` the seeded schedules beyond, 0 to 10^9
 *   and 100 by default
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
