/** The laboratory's C++ module: its functions as types, and texts across the bridge. */

import { compile, instantiated } from '../core/module.js';
import { TabacusError } from '../common/errors.js';
import { compileBeside, loadGlue } from './load.web.js';

/**
 * The exports of wasm/src/bindings/lab/lab.cpp.
 *
 * @typedef {object} Glue
 * @property {Uint8Array} HEAPU8
 * @property {(size: number) => number} _lab_input
 * @property {() => number} _lab_text
 * @property {() => number} _lab_text_size
 * @property {() => number} _lab_explore_new
 * @property {(exploration: number, schedules: number) => number} _lab_explore
 * @property {(exploration: number) => void} _lab_explore_report
 * @property {(exploration: number) => void} _lab_explore_delete
 * @property {() => void} _lab_replay
 * @property {() => number} _lab_cells
 * @property {(index: number, work: number, seeds: number) => number} _lab_cell_new
 * @property {(cell: number, schedules: number) => number} _lab_cell
 * @property {(cell: number) => void} _lab_cell_report
 * @property {(cell: number) => void} _lab_cell_delete
 */

/**
 * @typedef {object} Steps of something that is explored in slices
 * @property {(schedules: number) => boolean} explore false when it has ended
 * @property {() => any} report
 * @property {() => void} end frees it; nothing may be called after
 */

/** @param {import('../core/module.js').WasmSource | undefined} wasm nothing: beside the package's modules */
export async function loadLab(wasm) {
    const given = wasm === undefined ? compileBeside().catch(() => undefined) : compile(wasm, 'wasm');
    const [glue, module] = await Promise.all([loadGlue().catch(unavailable), given]);
    const starting = module ? instantiated(glue.default, module) : glue.default({});
    return new Lab(await starting.catch(unavailable));
}

/** @param {unknown} cause @returns {never} */
function unavailable(cause) {
    const where = "they must be beside the package's modules (its wasm may be passed as `wasm`)";
    throw new TabacusError('unavailable', `lab.js or lab.wasm could not be loaded: ${where}`, { cause });
}

/** A reviver for reports: `complaint` is the deprecated name of `failure`. @param {string} _ @param {any} value */
function withAlias(_, value) {
    if (value?.failure !== undefined) value.complaint = value.failure;
    return value;
}

export class Lab {
    #glue;
    #encoder = new TextEncoder();
    #decoder = new TextDecoder();

    /** @param {Glue} glue */
    constructor(glue) {
        this.#glue = glue;
    }

    /**
     * @param {string} request
     * @returns {Steps}
     */
    exploration(request) {
        this.#ask(request);
        const glue = this.#glue;
        return this.#steps(glue._lab_explore_new(), {
            explore: glue._lab_explore,
            report: glue._lab_explore_report,
            end: glue._lab_explore_delete,
        });
    }

    get cells() {
        return this.#glue._lab_cells();
    }

    /**
     * @param {number} index
     * @param {number} work
     * @param {number} seeds
     * @returns {Steps}
     */
    cell(index, work, seeds) {
        const glue = this.#glue;
        return this.#steps(glue._lab_cell_new(index, work, seeds), {
            explore: glue._lab_cell,
            report: glue._lab_cell_report,
            end: glue._lab_cell_delete,
        });
    }

    /** @param {string} seed @returns {any} undefined for what is no seed */
    replay(seed) {
        this.#ask(seed);
        this.#glue._lab_replay();
        const text = this.#answer();
        return text === '' ? undefined : JSON.parse(text, withAlias);
    }

    /**
     * @param {number} address
     * @param {{ explore: (address: number, schedules: number) => number,
     *   report: (address: number) => void, end: (address: number) => void }} calls
     * @returns {Steps}
     */
    #steps(address, calls) {
        if (address === 0) throw new TabacusError('invalid-argument', this.#answer());
        return {
            explore: (schedules) => calls.explore(address, schedules) !== 0,
            report: () => {
                calls.report(address);
                return JSON.parse(this.#answer(), withAlias);
            },
            end: () => calls.end(address),
        };
    }

    /** @param {string} text */
    #ask(text) {
        const bytes = this.#encoder.encode(text);
        const at = this.#glue._lab_input(bytes.length);
        this.#glue.HEAPU8.set(bytes, at); // read only here: the call may have grown the memory
    }

    #answer() {
        const at = this.#glue._lab_text();
        return this.#decoder.decode(this.#glue.HEAPU8.subarray(at, at + this.#glue._lab_text_size()));
    }
}
