/** The emulator's C++ module: the rules of an origin, and the texts that cross the bridge. */

import { compile, instantiated } from '../core/module.js';
import { TabacusError } from '../common/errors.js';
import { compileBeside, loadGlue } from './load.web.js';
import { oneLine } from './common/describe.js';

/** Kinds of event: wasm/src/lab/emulator/emulated_origin.hpp. */
export const eventKind = Object.freeze({
    nothing: 0,
    unseen: 1,
    changed: 2,
    granted: 3,
    unavailable: 4,
    stolen: 5,
    released: 6,
    snapshot: 7,
    message: 8,
    timer: 9,
    task: 10,
    fault: 11,
});

/** Task sources (HTML §8.1.7.1): wasm/src/lab/scheduler.hpp. */
export const taskSource = Object.freeze({ script: 0, timer: 2, database: 3, message: 5 });

/** What an entry of the trace is about: wasm/src/lab/footprint.hpp. */
export const subject = Object.freeze({
    turn: 1,
    lock: 6,
    transaction: 10,
    database: 11,
    item: 13,
    channel: 18,
    now: 19,
    faults: 21,
});

const models = ['mutexed', 'interleaved', 'cached'];

/** @param {import('../core/module.js').WasmSource | undefined} wasm nothing: beside the package's modules */
export async function loadRules(wasm) {
    const given = wasm === undefined ? compileBeside().catch(() => undefined) : compile(wasm, 'wasm');
    const [glue, module] = await Promise.all([loadGlue().catch(unavailable), given]);
    const starting = module ? instantiated(glue.default, module) : glue.default({});
    return starting.catch(unavailable);
}

/** @param {unknown} cause @returns {never} */
function unavailable(cause) {
    const beside = "they must be beside the package's modules (its wasm may be passed as `wasm`)";
    throw new TabacusError('unavailable', `emulator.js or emulator.wasm could not be loaded: ${beside}`, {
        cause,
    });
}

/** The module as rules that were freed see it. @type {any} */
const inert = new Proxy(
    { HEAPU8: new Uint8Array() },
    { get: (target, key) => (key in target ? target.HEAPU8 : () => 0) },
);

/** Units that one call of String.fromCharCode may be given. */
const unitsMax = 8192;

/**
 * One origin's rules. A context, an agent, a process and an area are numbers
 * (explained in wasm/src/lab/emulator/emulated_origin.hpp).
 */
export class Rules {
    #glue;
    #origin;
    #version;
    #report;

    /**
     * @param {any} glue
     * @param {{ storage: string, dropsEqual: boolean, wakes: boolean }} options
     */
    constructor(glue, { storage, dropsEqual, wakes }) {
        this.#glue = glue;
        this.#origin = glue._emu_new(models.indexOf(storage), dropsEqual, wakes);
        this.#version = glue._emu_version(this.#origin) >> 2;
        this.#report = glue._emu_report() >> 2;
    }

    /** Frees them: nothing is there, and nothing happens, from here on. */
    delete() {
        if (this.#kept) return;
        this.#kept = { now_ms: this.now(), hash: this.hash };
        this.#glue._emu_delete(this.#origin);
        this.#glue = inert;
        this.#units = new Uint16Array();
    }
    /** What is still asked of them then. @type {{ now_ms: number, hash: string } | undefined} */
    #kept;

    /** Views that are empty since the memory grew (WebAssembly JS API, "refresh the Memory buffer") are made anew. */
    #units = new Uint16Array();
    #words = new Uint32Array();
    #numbers = new Float64Array();

    #views() {
        if (this.#units.length > 0) return;
        const { buffer } = this.#glue.HEAPU8;
        this.#units = new Uint16Array(buffer);
        this.#words = new Uint32Array(buffer);
        this.#numbers = new Float64Array(buffer);
    }

    /** Raised whenever what a read of a storage returns may have changed. */
    version = 1;

    #versioned() {
        this.#views();
        this.version = this.#words[this.#version] ?? 0;
    }

    /** @param {string} text @param {string} [more] */
    #input(text, more = '') {
        const at = this.#glue._emu_input(text.length + more.length) >> 1;
        this.#views();
        const units = this.#units;
        for (let i = 0; i < text.length; ++i) units[at + i] = text.charCodeAt(i);
        for (let i = 0; i < more.length; ++i) units[at + text.length + i] = more.charCodeAt(i);
    }

    /** @returns {string} */
    #answer() {
        const at = this.#glue._emu_text() >> 1;
        this.#views();
        return this.#text(at, at + this.#glue._emu_text_units());
    }

    /** @param {number} begin @param {number} end */
    #text(begin, end) {
        let text = '';
        for (let at = begin; at < end; at += unitsMax) {
            text += String.fromCharCode(...this.#units.subarray(at, Math.min(at + unitsMax, end)));
        }
        return text;
    }

    /** @returns {(string | null)[]} each with its length before it */
    #answers() {
        let at = this.#glue._emu_text() >> 1;
        this.#views();
        const end = at + this.#glue._emu_text_units();
        const texts = [];
        while (at < end) {
            const length = (this.#units[at] ?? 0) | ((this.#units[at + 1] ?? 0) << 16);
            at += 2;
            texts.push(length < 0 ? null : this.#text(at, at + length));
            if (length > 0) at += length;
        }
        return texts;
    }

    // --- Processes, agents and contexts
    /** @returns {number} */
    process() {
        return this.#glue._emu_process(this.#origin);
    }
    /** @param {number} process @returns {number} */
    agent(process) {
        return this.#glue._emu_agent(this.#origin, process);
    }
    /** @param {number} agent @param {number} session @returns {number} */
    context(agent, session) {
        return this.#glue._emu_context(this.#origin, agent, session);
    }
    /** @param {number} copied @returns {number} */
    session(copied) {
        return this.#glue._emu_session(this.#origin, copied);
    }
    /** @param {number} context */
    closeContext(context) {
        this.#glue._emu_close_context(this.#origin, context);
    }
    /** @param {number} agent @param {number} kept */
    kill(agent, kept) {
        this.#glue._emu_kill(this.#origin, agent, kept);
    }
    /** @param {number} agent @returns {number} */
    underWay(agent) {
        return this.#glue._emu_under_way(this.#origin, agent);
    }
    /** @param {number} agent @param {boolean} active */
    setActive(agent, active) {
        this.#glue._emu_active(this.#origin, agent, active);
    }
    /** @param {number} agent @param {boolean} cached @returns {boolean} */
    setCached(agent, cached) {
        return this.#glue._emu_cached(this.#origin, agent, cached) !== 0;
    }

    // --- Storage
    /** @param {number} context @param {number} area @param {string} key @returns {string | null} */
    get(context, area, key) {
        this.#input(key);
        return this.#glue._emu_get(this.#origin, context, area) ? this.#answer() : null;
    }
    /** @param {number} context @param {number} area @param {string} key @param {string} value @returns {boolean} false: it is full */
    set(context, area, key, value) {
        this.#input(key, value);
        const fits = this.#glue._emu_set(this.#origin, context, area, key.length) !== 0;
        this.#versioned();
        return fits;
    }
    /** @param {number} context @param {number} area @param {string} key */
    remove(context, area, key) {
        this.#input(key);
        this.#glue._emu_remove(this.#origin, context, area);
        this.#versioned();
    }
    /** @param {number} context @param {number} area */
    clear(context, area) {
        this.#glue._emu_clear(this.#origin, context, area);
        this.#versioned();
    }
    /** @param {number} context @param {number} area @returns {string[]} */
    keys(context, area) {
        this.#glue._emu_keys(this.#origin, context, area);
        return /** @type {string[]} */ (this.#answers());
    }
    /** @param {number | undefined} bytes */
    quota(bytes) {
        this.#glue._emu_quota(this.#origin, bytes ?? -1);
    }
    wipe() {
        this.#glue._emu_wipe(this.#origin);
        this.#versioned();
    }
    /** @param {string} key @param {string | null} value */
    overwrite(key, value) {
        this.#input(key, value ?? '');
        this.#glue._emu_overwrite(this.#origin, key.length, value === null);
        this.#versioned();
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
        this.#glue._emu_request(this.#origin, context, number, mode === 'shared', ifAvailable, steal);
    }
    /** @param {number} context @param {number} number */
    release(context, number) {
        this.#glue._emu_release(this.#origin, context, number);
    }
    /** @param {number} context @param {number} number */
    abort(context, number) {
        this.#glue._emu_abort(this.#origin, context, number);
    }
    /** @param {number} context @param {number} number */
    query(context, number) {
        this.#glue._emu_query(this.#origin, context, number);
    }

    // --- Channels, time, tasks
    /** @param {number} context @param {string} name @returns {number} */
    channel(context, name) {
        this.#input(name);
        return this.#glue._emu_channel(this.#origin, context);
    }
    /** @param {number} endpoint */
    closeChannel(endpoint) {
        this.#glue._emu_close_channel(this.#origin, endpoint);
    }
    /** @param {number} context @param {number} endpoint @param {number} message @returns {number} how many endpoints will receive it */
    post(context, endpoint, message) {
        return this.#glue._emu_post(this.#origin, context, endpoint, message);
    }
    /** @param {number} context @param {number} delay_ms @param {boolean} throttled @returns {number} */
    timer(context, delay_ms, throttled) {
        return this.#glue._emu_timer(this.#origin, context, delay_ms, throttled);
    }
    /** @param {number} timer */
    cancel(timer) {
        this.#glue._emu_cancel(this.#origin, timer);
    }
    /** @returns {number} */
    now() {
        return this.#kept ? this.#kept.now_ms : this.#glue._emu_now(this.#origin);
    }
    /** @param {number} delta_ms */
    jump(delta_ms) {
        this.#glue._emu_jump(this.#origin, delta_ms);
    }
    /** @param {number} context @param {number} kind @param {number} peer @param {number} number */
    task(context, kind, peer, number) {
        this.#glue._emu_task(this.#origin, context, kind, peer, number);
    }

    // --- The schedule
    byDefault() {
        this.#glue._emu_by_default(this.#origin);
    }
    /** @param {number} seed @param {{ faultsMax?: number, length?: number, explored?: boolean }} [options] */
    bySeed(seed, { faultsMax = 0, length = 100, explored = false } = {}) {
        this.#glue._emu_by_seed(this.#origin, seed, faultsMax, length, explored);
    }
    /** @param {readonly number[]} schedule */
    bySchedule(schedule) {
        this.#input(schedule.map((index) => String.fromCharCode(index)).join(''));
        this.#glue._emu_by_schedule(this.#origin);
    }
    /** @param {number} count */
    offerFaults(count) {
        this.#glue._emu_offer_faults(this.#origin, count);
    }
    /** @param {boolean} mayWait @returns {number} one of `eventKind`; what it is about is in the fields below */
    step(mayWait) {
        const kind = this.#glue._emu_step(this.#origin, mayWait);
        this.#versioned();
        return kind;
    }
    get number() {
        return this.#numbers[this.#report >> 1] ?? 0;
    }
    get endpoint() {
        return this.#numbers[(this.#report >> 1) + 1] ?? 0;
    }
    get contextId() {
        return this.#words[this.#report + 4] ?? 0;
    }
    get from() {
        return this.#words[this.#report + 5] ?? 0;
    }
    get area() {
        return this.#words[this.#report + 6] ?? 0;
    }
    get texts() {
        return this.#answers();
    }
    /** What was chosen at each step. */
    get taken() {
        this.#glue._emu_taken(this.#origin);
        return [...this.#answer()].map((unit) => unit.charCodeAt(0));
    }
    get hash() {
        if (this.#kept) return this.#kept.hash;
        this.#glue._emu_hash(this.#origin);
        return this.#answer();
    }

    // --- The trace
    /** @param {boolean} on */
    setTracing(on) {
        this.#glue._emu_tracing(this.#origin, on);
        this.tracing = on;
    }
    tracing = false;
    /** @param {number} context 0: the browser @param {number} about one of `subject` @param {() => string} text */
    trace(context, about, text) {
        if (!this.tracing) return;
        this.#input(oneLine(text()));
        this.#glue._emu_note(this.#origin, context, about);
    }
    /** @param {string} failure @returns {string} */
    traceText(failure) {
        this.#input(oneLine(failure));
        this.#glue._emu_trace(this.#origin);
        return this.#answer();
    }
    /** @param {string} failure @param {string} title @returns {string} */
    svg(failure, title) {
        this.#input(failure, title);
        this.#glue._emu_svg(this.#origin, failure.length);
        return this.#answer();
    }
}
