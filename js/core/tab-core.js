/** The C++ core of a tab: which build, from where, and its methods as types. */

import { invalid, TabacusError } from '../errors.js';
import { loadGlue } from './load.web.js';

/** @typedef {'threads' | 'single'} Build */

/**
 * Where a core's wasm is to be had: an address, its bytes, or itself.
 * @typedef {string | URL | BufferSource | WebAssembly.Module} WasmSource
 */

/** @typedef {(code: import('../errors.js').TabacusErrorCode, message: string) => void} Reject */

/**
 * wasm/src/browser/core.hpp, CounterCore.
 *
 * @typedef {object} CounterCore
 * @property {(n: number) => number} increment
 * @property {(n: number, resolve: (value: number) => void, reject: Reject) => void} add
 * @property {(resolve: (value: number) => void, reject: Reject) => void} read
 * @property {(resolve: () => void, reject: Reject) => void} flush
 * @property {() => number} value
 * @property {(callback: () => void) => void} onChange
 * @property {() => string[]} guarantee
 */

/** @typedef {(texts: string[], healed: number) => void} OnNotice */

/**
 * wasm/src/browser/core.hpp, TabCore.
 *
 * @typedef {import('../host/host.js').Reports & {
 *   open(resolve: () => void, reject: Reject): void,
 *   close(resolve: () => void, reject: Reject): void,
 *   capabilities(): string[],
 *   counter(name: string, strategy: string, strict: boolean, reject: Reject): CounterCore | null,
 * }} TabCore
 */

/**
 * @typedef {object} Glue
 * @property {new (host: import('../host/host.js').Host, namespace: string, onNotice: OnNotice) => TabCore} TabCore
 */

/**
 * A core of its own for each tab: what a tab leaves behind goes with it.
 *
 * @param {Build} build
 * @param {WasmSource | undefined} wasm nothing: beside the package's modules
 * @returns {Promise<Glue>}
 */
export async function loadCore(build, wasm) {
    const [{ default: start }, module] = await Promise.all([loadGlue(build), wasm && compile(wasm)]);
    try {
        return await (module ? instantiated(start, module) : start({}));
    } catch (cause) {
        throw new TabacusError(
            'unavailable',
            `${build}.wasm could not be loaded: it must be beside the package's modules, or passed as wasm`,
            { cause },
        );
    }
}

/**
 * The glue waits for ever where instantiating fails in a function of ours, so we do not wait for it alone.
 *
 * @param {(options: object) => Promise<Glue>} start
 * @param {WebAssembly.Module} module
 * @returns {Promise<Glue>}
 */
function instantiated(start, module) {
    return new Promise((resolve, reject) => {
        /**
         * @param {WebAssembly.Imports} imports
         * @param {(instance: WebAssembly.Instance, module: WebAssembly.Module) => void} receive
         */
        const instantiateWasm = (imports, receive) => {
            WebAssembly.instantiate(module, imports)
                .then((instance) => receive(instance, module))
                .catch(reject);
            return {};
        };
        start({ instantiateWasm }).then(resolve, reject);
    });
}

/**
 * @param {WasmSource} source
 * @returns {Promise<WebAssembly.Module>}
 */
async function compile(source) {
    if (source instanceof WebAssembly.Module) return source;
    try {
        if (typeof source !== 'string' && !(source instanceof URL)) return await WebAssembly.compile(source);
        const response = await fetch(source);
        if (!response.ok) throw new Error(`${response.status} ${response.url}`);
        return await WebAssembly.compile(await response.arrayBuffer());
    } catch (cause) {
        throw Object.assign(invalid('wasm', source, 'the address, the bytes or the module of its wasm'), { cause });
    }
}
