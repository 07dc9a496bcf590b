/** An origin's rules, which are C++ (wasm/src/bindings/emulator/emulator.cpp). */

import { compile, instantiated, notStarted } from '../core/module.js';
import { compileBeside, start } from './load.web.js';
import { oneLine } from './common/describe.js';

/** @typedef {import('./emulator.js').MainModule} EmulatorModule */

/** About how many steps a run has, where nobody knows better: a seed's random choices depend on it. */
export const runLengthDefault = 100;

/** @param {import('../core/module.js').WasmSource | undefined} wasm nothing: beside the package's modules @returns {Promise<EmulatorModule>} */
export async function loadRules(wasm) {
    const module = await (wasm === undefined ? compileBeside() : compile(wasm, 'wasm'));
    return instantiated(start, module).catch(notStarted('emulator.wasm', wasm, 'wasm'));
}

/** The module, and what it binds, as rules that were freed see them: calls do nothing and return 0. @type {any} */
const inert = new Proxy({}, { get: () => () => 0 });

/** Units that one call of String.fromCharCode may be given. */
const unitsMax = 8192;

/**
 * One origin's rules. A context, an agent, a process and an area are numbers
 * (explained in wasm/src/lab/emulator/emulated_origin.hpp).
 */
export class Rules {
    /** The calls that embind binds: all but those that a test's code makes most. @type {import('./emulator.js').EmulatedOrigin} */
    calls;
    #module;
    /** Where the plain exports find the rules, and what they leave: each address divided by the size of what is there. */
    #origin;
    #version;
    #numbersAt;
    #wordsAt;

    /**
     * @param {EmulatorModule} module
     * @param {import('./emulator.js').OriginOptions} options
     */
    constructor(module, options) {
        this.calls = new module.EmulatedOrigin(options);
        this.#module = module;
        const { origin, version, report } = this.calls.addresses();
        this.#origin = origin;
        this.#version = version >> 2;
        this.#numbersAt = report >> 3;
        this.#wordsAt = report >> 2;
    }

    /** Frees them: nothing is there, and nothing happens, from here on. */
    delete() {
        if (this.#kept) return;
        this.#kept = { now_ms: this.now_ms, hash: this.hash };
        this.calls.delete();
        this.calls = inert;
        this.#module = inert;
        this.#units = new Uint16Array();
        this.#words = new Uint32Array();
    }
    /** What is still asked of them then. @type {{ now_ms: number, hash: string } | undefined} */
    #kept;

    get now_ms() {
        return this.#kept ? this.#kept.now_ms : this.calls.now_ms();
    }
    get hash() {
        return this.#kept ? this.#kept.hash : this.calls.hash();
    }

    /** Views that are empty since the memory grew (WebAssembly JS API, "refresh the Memory buffer") are made anew. */
    #units = new Uint16Array();
    #words = new Uint32Array();
    #numbers = new Float64Array();

    #views() {
        if (this.#units.length > 0) return;
        const buffer = this.#module.memory();
        this.#units = new Uint16Array(buffer);
        this.#words = new Uint32Array(buffer);
        this.#numbers = new Float64Array(buffer);
    }

    /** @param {string} text @param {string} [more] */
    #input(text, more = '') {
        const at = this.#module._emu_input(text.length + more.length) >> 1;
        this.#views();
        const units = this.#units;
        for (let i = 0; i < text.length; ++i) units[at + i] = text.charCodeAt(i);
        for (let i = 0; i < more.length; ++i) units[at + text.length + i] = more.charCodeAt(i);
    }

    /** @returns {string} */
    #answer() {
        const begin = this.#module._emu_text() >> 1;
        const end = begin + this.#module._emu_text_units();
        this.#views();
        let text = '';
        for (let at = begin; at < end; at += unitsMax) {
            text += String.fromCharCode(...this.#units.subarray(at, Math.min(at + unitsMax, end)));
        }
        return text;
    }

    /** Raised whenever what a read of a storage returns may have changed. */
    get version() {
        const version = this.#words[this.#version];
        if (version !== undefined) return version;
        this.#views();
        return this.#words[this.#version] ?? 0;
    }

    // --- Storage
    /** @param {number} context @param {number} area @param {string} key @returns {string | null} */
    get(context, area, key) {
        this.#input(key);
        return this.#module._emu_get(this.#origin, context, area) ? this.#answer() : null;
    }
    /** @param {number} context @param {number} area @param {string} key @param {string} value @returns {boolean} false: it is full */
    set(context, area, key, value) {
        this.#input(key, value);
        return this.#module._emu_set(this.#origin, context, area, key.length) !== 0;
    }

    // --- Locks
    /**
     * @param {number} context
     * @param {number} number
     * @param {string} name
     * @param {{ mode: string, ifAvailable: boolean, steal: boolean }} options
     */
    request(context, number, name, { mode, ifAvailable, steal }) {
        this.#input(name);
        const shared = +(mode === 'shared');
        this.#module._emu_request(this.#origin, context, number, shared, +ifAvailable, +steal);
    }
    /** @param {number} context @param {number} number */
    release(context, number) {
        this.#module._emu_release(this.#origin, context, number);
    }

    // --- The schedule
    /** @param {boolean} mayWait @returns {number} one of the module's EventKind; what it is about is in the fields below */
    step(mayWait) {
        const kind = this.#module._emu_step(this.#origin, +mayWait);
        this.#views();
        return kind;
    }
    get number() {
        return this.#numbers[this.#numbersAt] ?? 0;
    }
    get endpoint() {
        return this.#numbers[this.#numbersAt + 1] ?? 0;
    }
    get contextId() {
        return this.#words[this.#wordsAt + 4] ?? 0;
    }
    get from() {
        return this.#words[this.#wordsAt + 5] ?? 0;
    }
    get area() {
        return this.#words[this.#wordsAt + 6] ?? 0;
    }

    // --- The trace
    /** @param {boolean} on */
    setTracing(on) {
        this.calls.setTracing(on);
        this.tracing = on;
    }
    tracing = false;
    /** @param {number} context 0: the browser @param {import('./emulator.js').Subject} subject @param {() => string} text */
    trace(context, subject, text) {
        if (this.tracing) this.calls.addLine(context, subject, oneLine(text()));
    }
}
