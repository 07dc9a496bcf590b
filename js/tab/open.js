import { show, TabacusError } from '../common/errors.js';
import { requirePlatform } from '../common/require-platform.js';
import { defaultTimeouts } from '../common/timeouts.js';
import { hostWork } from '../common/host-work.js';
import { Engine, modules } from './engine.js';
import { checkOpenOptions } from './tab-options.js';
import { Tab } from './tab.js';

/** @typedef {import('../core/module.js').WasmSource} WasmSource */
/** @typedef {import('../core/program.js').PieceName} PieceName */
/** @typedef {import('./tab-options.js').Feature} Feature */

/**
 * The options of open().
 *
 * @typedef {object} OpenOptions
 * @property {string} [namespace] separates counters, locks and queues of the same name: those of another
 *   namespace are different ones. A well-formed string of 1 to 128 UTF-16 units; `default` by default
 * @property {WasmSource | Partial<Record<PieceName, WasmSource>>} [wasm] where the pieces of the program are,
 *   if they are not beside the package's modules: an object with a source for each piece, or one source,
 *   which is that of `counters`. `open()` loads `counters`, and `storage` where there is no IndexedDB. Each
 *   other piece is loaded when it is first needed: `locks` by everything but replicated counters; `leader` by
 *   leaders, semaphores and `once`; `lease` by locks in a browser without Web Locks; `queue` by queues;
 *   `limits` by sequences, budgets, rate limits, and state() and merge() of counters; `catalogue` by a
 *   counter of another strategy than the default
 * @property {WasmSource} [locks] deprecated: use `wasm.locks`
 * @property {WasmSource} [queue] deprecated: use `wasm.queue`
 * @property {WasmSource} [limits] deprecated: use `wasm.limits`
 * @property {WasmSource} [catalogue] deprecated: use `wasm.catalogue`
 * @property {Feature[]} [preload] features to load ahead of their first use
 * @property {boolean} [allowWeaker] whether this browser may give less than was asked for: counters that are
 *   less durable, and locks that exclude other tabs or fence writes less than docs/locks.md promises. `false`
 *   by default: such a request is rejected with `weaker-guarantee`
 * @property {import('../common/timeouts.js').Timeouts} [timeouts] how long calls wait for a browser that does
 *   not answer
 * @property {boolean} [persist] whether the browser is asked not to discard the data of the origin when it
 *   needs space. Firefox asks the user. `open()` does not wait for the answer: `capabilities.persisted` has
 *   it, and a `capabilitieschange` event reports it. The warning `not-persisted` reports a refusal. `false`
 *   by default
 * @property {object} [window] the platform to use instead of `globalThis`
 */

/** @typedef {ReturnType<typeof checkOpenOptions>} Checked */

/**
 * An engine that runs or is being opened, with the number of its open handles.
 * @typedef {{ engine: Promise<Engine>, options: Checked, handles: number, forget: () => void }} Running
 */

/** The running engines, by window and namespace. @type {WeakMap<object, Map<string, Running>>} */
const everywhere = new WeakMap();

/**
 * Opens a namespace in this context (a page, a Worker, a process of Node). All contexts of the same origin
 * that open the same namespace share what is in it. Within a context, all calls of open() for the namespace
 * share one engine, which is closed when the last of the returned tabs is closed.
 *
 * @param {OpenOptions} [options]
 * @returns {Promise<Tab>} rejects with `invalid-argument`, with `unavailable` if the program cannot be loaded
 *   or the platform lacks what it needs, with `out-of-memory` if the platform gives it no memory, and with
 *   `kind-mismatch` if the namespace is already open in this context with other options
 * @example
 * import { open } from 'tabacus';
 * const tab = await open({ namespace: 'shop' });
 * const visits = tab.counter('visits');
 * visits.add(1);
 * await visits.flush();
 */
export async function open(options = {}) {
    requirePlatform('open()', ['WebAssembly', 'AbortController']);
    const checked = checkOpenOptions(options);
    /** @type {Map<string, Running>} */
    const engines = everywhere.get(checked.platform) ?? new Map();
    everywhere.set(checked.platform, engines);
    const running = engines.get(checked.namespace);
    const entry = running ?? start(checked, engines);
    assertSame(entry.options, checked);
    if (running) addTo(entry, checked);
    ++entry.handles;
    const leave = () => {
        if (--entry.handles > 0) return false;
        entry.forget();
        return true;
    };
    try {
        const engine = await entry.engine;
        if (checked.persist) askPersistence(engine).catch(() => {}); // without the module nothing is asked
        return new Tab(engine, checked.allowWeaker ?? false, leave);
    } catch (error) {
        leave();
        // The engine that failed was started with the options of another call. These options may succeed.
        if (running) return open(options);
        throw error;
    }
}

/** Asks the browser to keep the data of the origin. @param {Engine} engine */
async function askPersistence({ platform, host }) {
    const { persist } = await hostWork(platform, modules.coordination(), 'import()');
    await persist(host, platform);
}

/**
 * Adds to a running engine the sources and the features that another call of open() names.
 *
 * @param {Running} running
 * @param {Checked} asked
 */
function addTo({ options, engine }, { wasm, preload }) {
    for (const [piece, source] of Object.entries(wasm)) {
        // The piece `counters` is loaded already, or is being loaded.
        if (piece !== 'counters') options.wasm[/** @type {PieceName} */ (piece)] ??= source;
    }
    engine.then((opened) => opened.preload(preload)).catch(() => {}); // thrown by open()
}

/**
 * Starts an engine, and adds it to the running ones.
 *
 * @param {Checked} options
 * @param {Map<string, Running>} engines
 * @returns {Running}
 */
function start(options, engines) {
    /** Makes the next open() start another engine. Does nothing if another has been started already. */
    const forget = () => {
        if (engines.get(options.namespace) === entry) engines.delete(options.namespace);
    };
    /** @type {Running} */
    const entry = { engine: Engine.open(options, forget), options, handles: 0, forget };
    engines.set(options.namespace, entry);
    entry.engine.catch(forget); // thrown by open()
    return entry;
}

/** Describes an option in an error message. @param {unknown} value */
const named = (value) => show(value instanceof URL ? value.href : value);

/**
 * Whether two values of an option are equal. URLs are compared by their addresses.
 *
 * @param {unknown} a
 * @param {unknown} b
 */
const same = (a, b) => a === b || (a instanceof URL ? a.href : a) === (b instanceof URL ? b.href : b);

/**
 * Checks that a call of open() asks for no other options than those of the running engine.
 *
 * @param {Checked} has
 * @param {Checked} asked an option that is not given agrees with any value
 * @throws {TabacusError} `kind-mismatch`
 */
function assertSame(has, asked) {
    /** @type {[option: string, known: unknown, value: unknown][]} */
    const pairs = Object.entries(asked.wasm).map(([piece, source]) => [
        `wasm.${piece}`,
        has.wasm[/** @type {PieceName} */ (piece)],
        source,
    ]);
    pairs.push(['allowWeaker', has.allowWeaker ?? false, asked.allowWeaker]);
    for (const [name, time] of Object.entries(asked.timeouts)) {
        const key = /** @type {keyof import('../common/timeouts.js').Timeouts} */ (name);
        pairs.push([`timeouts.${name}`, has.timeouts[key] ?? defaultTimeouts[key], time]);
    }
    for (const [option, known, value] of pairs) {
        if (known === undefined || value === undefined || same(known, value)) continue;
        throw new TabacusError(
            'kind-mismatch',
            `the namespace ${show(has.namespace)} is open here with the ${option} ${named(known)}, not ${named(value)}`,
            { argument: option, value, allowed: named(known) },
        );
    }
}
