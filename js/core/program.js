/**
 * The program of a tab. It consists of pieces of WebAssembly that share one memory and one table
 * (scripts/lib/split-program.js).
 */

import { TabacusError } from '../common/errors.js';
import { build as ownBuild } from './generated/build.js';

/** @typedef {import('./generated/glue.js').PieceName} PieceName */

/**
 * The arguments of a call of the program: the number of the call, and its arguments in the order that
 * js/core/generated/host-calls.js defines.
 *
 * @typedef {[call: number, a: number, b: number, c: number, d: number, number: number, first: number,
 *   firstSize: number, second: number, secondSize: number]} HostCallArguments
 */

/**
 * The program as the bridge uses it: the exports of all loaded pieces, and the function that the program
 * calls.
 *
 * @typedef {{ HEAPU8: Uint8Array, view: DataView, tabacusCall: (...call: HostCallArguments) => unknown } &
 *   import('./generated/glue.js').Exports} Glue
 */

/**
 * Checks that a piece is of the expected build, and returns the name of its build, which
 * scripts/lib/split-program.js has written into it. JavaScript and WebAssembly of two builds do not work
 * together; they meet, for example, if a browser has cached some of the files.
 *
 * @param {PieceName} piece
 * @param {WebAssembly.Module} module
 * @param {string} expected the beginning of the build's name
 * @param {string} other the part that is of the expected build, for the message
 * @throws {TabacusError} `version-mismatch`
 * @throws {TypeError} if the piece names no build
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

/** A running program. */
export class Program {
    #build;
    #exports;

    /** @type {Glue} */
    glue;

    /**
     * @param {Glue} glue
     * @param {Record<string, any>} exports those of the first piece
     * @param {string} build the name of its build
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
     * @throws {TabacusError} `version-mismatch` if the piece is of another build than this JavaScript
     */
    static async start(module) {
        const build = checkBuild('counters', module, ownBuild, 'the JavaScript');
        /** @type {any} */
        const glue = {};
        const env = {
            // There is no rest parameter, since it would be slower.
            /** @type {(...call: HostCallArguments) => unknown} */
            tabacus_call: (call, a, b, c, d, number, first, firstSize, second, secondSize) =>
                glue.tabacusCall(call, a, b, c, d, number, first, firstSize, second, secondSize),
            emscripten_notify_memory_growth: () => {
                glue.HEAPU8 = new Uint8Array(memory.buffer);
                glue.view = new DataView(memory.buffer);
            },
        };
        const { exports } = await WebAssembly.instantiate(module, { env });
        const memory = /** @type {WebAssembly.Memory} */ (exports.memory);
        Object.assign(glue, exports);
        env.emscripten_notify_memory_growth();
        /** @type {() => void} */ (exports._initialize)();
        return new Program(glue, exports, build);
    }

    /**
     * Instantiates another piece. It imports functions of the loaded pieces in the order of the table, each by the
     * distance from the one before it (scripts/lib/piece-imports.js).
     *
     * @param {PieceName} piece
     * @param {WebAssembly.Module} module
     * @returns {Promise<Glue>} its exports
     * @throws {TabacusError} `version-mismatch` if the piece is of another build than the first one
     */
    async add(piece, module) {
        checkBuild(piece, module, this.#build, 'counters.wasm');
        const primary = this.#exports;
        let index = 0;
        const f = new Proxy({}, { get: (_, distance) => primary.table.get((index += Number(distance))) });
        const { exports } = await WebAssembly.instantiate(module, { primary, f });
        return /** @type {any} */ (exports);
    }
}
