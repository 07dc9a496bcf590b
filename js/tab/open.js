import { show, TabacusError } from '../common/errors.js';
import { requirePlatform } from '../common/require-platform.js';
import { Engine } from './engine.js';
import { checkOpenOptions } from './tab-options.js';
import { Tab } from './tab.js';

/** @typedef {import('../core/module.js').WasmSource} WasmSource */
/** @typedef {import('../core/program.js').PieceName} PieceName */
/** @typedef {import('./tab-options.js').Feature} Feature */

/**
 * @typedef {object} OpenOptions
 * @property {string} [namespace] keeps counters of one name apart; `default` if it is not given.
 *   A well-formed string of 1 to 128 UTF-16 units
 * @property {WasmSource | Partial<Record<PieceName, WasmSource>>} [wasm] where the pieces of the program are, if not
 *   beside the package's modules: by their names, or `counters` alone. `open()` loads `storage` where there is no
 *   IndexedDB. Each other is loaded by the first use of what needs it: `locks` by all but replicated counters, `leader`
 *   by leaders, semaphores and `once`, `lease` by locks where the browser has none, `queue`, `limits`, and `catalogue`
 *   by a counter of a strategy but the default
 * @property {WasmSource} [locks] deprecated: `wasm.locks`
 * @property {WasmSource} [queue] deprecated: `wasm.queue`
 * @property {WasmSource} [limits] deprecated: `wasm.limits`
 * @property {WasmSource} [catalogue] deprecated: `wasm.catalogue`
 * @property {Feature[]} [preload] what is loaded ahead of its first use
 * @property {boolean} [allowWeaker] whether counters may be less durable than was asked for, and locks
 *   exclude or fence less than they promise
 * @property {object} [window] the platform to use instead of `globalThis`
 */

/** @typedef {ReturnType<typeof checkOpenOptions>} Checked */

/**
 * An engine that runs, or is being opened, and how many handles of it are open.
 * @typedef {{ engine: Promise<Engine>, options: Checked, handles: number, forget: () => void }} Running
 */

/** The running engines, by window and namespace. @type {WeakMap<object, Map<string, Running>>} */
const everywhere = new WeakMap();

/**
 * Opens a namespace in this context (a page, a worker, Node). Everything under it is shared with all
 * contexts of the same origin that open the same namespace. Within a context, all who open it share one
 * engine; it is closed when the last of them has closed what it got.
 *
 * @param {OpenOptions} [options]
 * @returns {Promise<Tab>} rejects with `invalid-argument`, `unavailable` when the core cannot be loaded,
 *   `out-of-memory` when the platform gives it no memory, and `kind-mismatch` when the namespace is open here
 *   with other options
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
        return new Tab(await entry.engine, checked.allowWeaker ?? false, leave);
    } catch (error) {
        leave();
        // Its options were another's.
        if (running) return open(options);
        throw error;
    }
}

/**
 * Adds to a running engine what another call of open() asks for.
 *
 * @param {Running} running
 * @param {Checked} asked
 */
function addTo({ options, engine }, { wasm, preload }) {
    for (const [piece, source] of Object.entries(wasm)) {
        // The counters are loaded already, or on their way.
        if (piece !== 'counters') options.wasm[/** @type {PieceName} */ (piece)] ??= source;
    }
    engine.then((opened) => opened.preload(preload)).catch(() => {}); // thrown by open()
}

/**
 * @param {Checked} options
 * @param {Map<string, Running>} engines
 * @returns {Running}
 */
function start(options, engines) {
    /** The next open() starts another. Another may have been started since. */
    const forget = () => {
        if (engines.get(options.namespace) === entry) engines.delete(options.namespace);
    };
    /** @type {Running} */
    const entry = { engine: Engine.open(options, forget), options, handles: 0, forget };
    engines.set(options.namespace, entry);
    entry.engine.catch(forget); // thrown by open()
    return entry;
}

/** @param {unknown} value an option */
const named = (value) => show(value instanceof URL ? value.href : value);

/**
 * @param {unknown} a
 * @param {unknown} b
 */
const same = (a, b) => a === b || (a instanceof URL ? a.href : a) === (b instanceof URL ? b.href : b);

/**
 * @param {Checked} has
 * @param {Checked} asked an option that is not given contradicts nothing
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
    for (const [option, known, value] of pairs) {
        if (known === undefined || value === undefined || same(known, value)) continue;
        throw new TabacusError(
            'kind-mismatch',
            `the namespace ${show(has.namespace)} is open here with the ${option} ${named(known)}, not ${named(value)}`,
            { argument: option, value, allowed: named(known) },
        );
    }
}
