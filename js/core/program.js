/** The program of a tab: pieces of WebAssembly that share one memory and one table (scripts/lib/split-program.js). */

import { TabacusError } from '../common/errors.js';
import { build as ownBuild } from './generated/build.js';

/** @typedef {import('./generated/glue.js').PieceName} PieceName */

/**
 * What is called, and the arguments as js/core/generated/host-calls.js assigns them.
 *
 * @typedef {[call: number, a: number, b: number, c: number, d: number, number: number, first: number,
 *   firstSize: number, second: number, secondSize: number]} HostCallArguments
 */

/**
 * The program as the bridge calls it: the exports of all pieces that are loaded, and what it calls.
 *
 * @typedef {{ HEAPU8: Uint8Array, tabacusCall: (...call: HostCallArguments) => unknown } &
 *   import('./generated/glue.js').Exports} Glue
 */

/**
 * The build that a piece is of, which scripts/lib/split-program.js has written into it. JavaScript and wasm of two
 * builds would misunderstand each other, for example where a page has cached some of the files.
 *
 * @param {PieceName} piece
 * @param {WebAssembly.Module} module
 * @param {string} expected what the name of the build begins with
 * @param {string} other what is of that build
 * @throws {TabacusError} `version-mismatch`; a TypeError if it names no build
 */
function checkBuild(piece, module, expected, other) {
    const [section] = WebAssembly.Module.customSections(module, 'build');
    if (!section) throw new TypeError('it names no build');
    const build = String.fromCharCode(...new Uint8Array(section));
    if (build.startsWith(expected)) return build;
    throw new TabacusError(
        'version-mismatch',
        `${piece}.wasm is of the build ${build}, and ${other} of ${expected}: all files must come from one build; ` +
            'serve them together, and reload the page',
    );
}

export class Program {
    #build;
    #exports;

    /** @type {Glue} */
    glue;

    /**
     * @param {Glue} glue
     * @param {Record<string, any>} exports of the first piece
     * @param {string} build
     */
    constructor(glue, exports, build) {
        this.glue = glue;
        this.#exports = exports;
        this.#build = build;
    }

    /**
     * Instantiates the first piece.
     *
     * @param {WebAssembly.Module} module
     * @returns {Promise<Program>}
     * @throws {TabacusError} `version-mismatch` if it is of another build than this JavaScript
     */
    static async start(module) {
        const build = checkBuild('counters', module, ownBuild, 'the JavaScript');
        /** @type {any} */
        const glue = {};
        const env = {
            // A list of arguments would be slower.
            /** @type {(...call: HostCallArguments) => unknown} */
            tabacus_call: (call, a, b, c, d, number, first, firstSize, second, secondSize) =>
                glue.tabacusCall(call, a, b, c, d, number, first, firstSize, second, secondSize),
            emscripten_notify_memory_growth: () => (glue.HEAPU8 = new Uint8Array(memory.buffer)),
        };
        const { exports } = await WebAssembly.instantiate(module, { env });
        const memory = /** @type {WebAssembly.Memory} */ (exports.memory);
        Object.assign(glue, exports);
        env.emscripten_notify_memory_growth();
        /** @type {() => void} */ (exports._initialize)();
        return new Program(glue, exports, build);
    }

    /**
     * Adds another piece. It imports functions of the pieces that are loaded, by their indices in the table.
     *
     * @param {PieceName} piece
     * @param {WebAssembly.Module} module
     * @returns {Promise<Glue>} its exports
     * @throws {TabacusError} `version-mismatch` if it is of another build
     */
    async add(piece, module) {
        checkBuild(piece, module, this.#build, 'counters.wasm');
        const primary = this.#exports;
        const functions = new Proxy({}, { get: (_, index) => primary.table.get(index) });
        const { exports } = await WebAssembly.instantiate(module, { primary, functions });
        return /** @type {any} */ (exports);
    }
}
