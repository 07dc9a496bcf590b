/** The rules of an origin, which are written in C++ (wasm/src/bindings/emulator/emulator.cpp). */

import { compile, instantiated, notStarted } from '../core/module.js';
import { compileBeside, start } from './load.web.js';
import { hasListener } from './dom/event-listeners.web.js';
import { oneLine } from './common/describe.js';
import { callerLine, SourceNames } from './trace/source-line.js';

/** @typedef {import('./emulator.js').MainModule} EmulatorModule */

/** The assumed number of steps of a run, on which the random choices of a seed depend, if no better one is known. */
export const runLengthDefault = 100;

/**
 * Loads and instantiates emulator.wasm.
 *
 * @param {import('../core/module.js').WasmSource | undefined} wasm if undefined, it is beside the package's modules
 * @returns {Promise<EmulatorModule>}
 */
export async function loadRules(wasm) {
    const module = await (wasm === undefined ? compileBeside() : compile(wasm, 'wasm'));
    return instantiated(start, module).catch(notStarted('emulator.wasm', wasm, 'wasm'));
}

/** Stands for the module and its objects once the rules are freed: calls do nothing and return 0. @type {any} */
const inert = new Proxy({}, { get: () => () => 0 });

/** The largest number of units that is passed to one call of String.fromCharCode(). */
const unitsMax = 8192;

/**
 * The rules of one origin. Contexts, agents, processes and areas are numbers, which
 * wasm/src/lab/emulator/emulated_origin.hpp explains.
 */
export class Rules {
    /**
     * The calls that embind binds: all but the most frequent ones, which are plain exports.
     *
     * @type {import('./emulator.js').EmulatedOrigin}
     */
    calls;
    #module;
    /** The address of the rules, for the plain exports. */
    #origin;
    /** The indices, in typed arrays over the memory, of what the plain exports return. */
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

    /** Frees the rules. Later calls do nothing. */
    delete() {
        if (this.#kept) return;
        this.#kept = { now_ms: this.now_ms, hash: this.hash };
        this.calls.delete();
        this.calls = inert;
        this.#module = inert;
        this.#units = new Uint16Array();
        this.#words = new Uint32Array();
    }
    /** The values that stay readable once the rules are freed. @type {{ now_ms: number, hash: string } | undefined} */
    #kept;

    get now_ms() {
        return this.#kept ? this.#kept.now_ms : this.calls.now_ms();
    }
    get hash() {
        return this.#kept ? this.#kept.hash : this.calls.hash();
    }

    /**
     * Views of the memory. They become empty when it grows (WebAssembly JS API, "refresh the Memory buffer"), and are
     * made anew.
     */
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

    /** A number that grows whenever the result of a read of a storage may have changed. */
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
    /**
     * @param {number} context
     * @param {number} area
     * @param {string} key
     * @param {string} value
     * @returns {boolean} false if the storage is full
     */
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
    /**
     * Takes a step.
     *
     * @param {boolean} mayWait whether time may pass
     * @returns {number} an EventKind; the getters below describe it
     */
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

    // --- A search of all schedules
    /**
     * Lets a search choose the schedule.
     *
     * @param {import('./emulator.js').ScheduleSearch} search must live until endSearch()
     */
    runBySearch(search) {
        this.calls.runBySearch(search);
        this.#searched = true;
    }
    #searched = false;
    /** Ends a run that a search chooses. Does nothing in other runs. */
    endSearch() {
        if (!this.#searched) return;
        this.#searched = false;
        this.calls.endSearch();
    }
    /** Whether a search has given the run up, since it has run an equal one. */
    get givenUp() {
        return this.#searched && this.calls.givenUp();
    }
    /** Notes that the current step of a search touches what the rules cannot see. */
    noteEverything() {
        if (this.#searched) this.calls.noteEverything();
    }
    /**
     * Notes for a search that code of a context handles a `storage` event, if the context listens for it.
     *
     * @param {import('./context.js').Context} context
     */
    noteStorageEvent({ id, window }) {
        if (this.#searched && hasListener(window, 'storage')) this.calls.noteMemory(id);
    }
    /**
     * Notes for a search which contexts the current step has made listen, or not listen, for `storage` events.
     *
     * @param {Iterable<import('./context.js').Context>} contexts
     */
    noteListeners(contexts) {
        if (!this.#searched) return;
        for (const context of contexts) {
            const listening = hasListener(context.window, 'storage');
            if (listening === context.listening) continue;
            context.listening = listening;
            this.calls.noteListener(context.id);
        }
    }
    /** Notes for a search that the current step decides whether time may pass. */
    noteMayWait() {
        if (this.#searched) this.calls.noteMayWait();
    }
    /** Notes for a search whether work beside the schedule is under way. @param {boolean} beside */
    setBeside(beside) {
        if (this.#searched) this.calls.setBeside(beside);
    }

    // --- The trace
    /** @param {boolean} on */
    setTracing(on) {
        this.calls.setTracing(on);
        this.tracing = on;
    }
    tracing = false;
    sources = new SourceNames();
    /** What the story says about the last read of each line. @type {Map<string, string>} */
    reads = new Map();

    /** The line of a tab's source that calls, if tracing is on and it is known. */
    sourceLine() {
        return this.tracing ? callerLine() : '';
    }
    /** Notes the line of a tab's source for the trace of the next call, if tracing is on. */
    mark() {
        if (this.tracing) this.calls.setPlace(callerLine());
    }
    /**
     * Adds a line to the trace, if tracing is on.
     *
     * @param {number} context 0 for the browser
     * @param {import('./emulator.js').Subject} subject
     * @param {() => string} text
     * @param {{ story?: string, line?: string }} [more] `story`: what a story says instead, empty for nothing;
     *   `line`: the line of a tab's source, that of the caller by default
     */
    trace(context, subject, text, { story, line = this.sourceLine() } = {}) {
        if (!this.tracing) return;
        const placed = (/** @type {string} */ one) => oneLine(line && one ? `${one} (${line})` : one);
        const sentence = story === undefined ? undefined : placed(story);
        this.calls.addLine(context, subject, placed(text()), sentence);
    }
}
