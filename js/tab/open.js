import { loadModule } from '../core/load-module.js';
import { Host } from '../host/host.js';
import { checkOpenOptions } from './tab-options.js';
import { Tab } from './tab.js';

/**
 * @typedef {object} OpenOptions
 * @property {string} [namespace] keeps counters of one name apart; `default` if it is not given.
 *   A well-formed string of 1 to 128 UTF-16 units
 * @property {import('../core/module.js').WasmSource} [wasm] where single.wasm is, if not beside the
 *   package's modules
 * @property {import('../core/module.js').WasmSource} [coordination] where coordination.wasm is, if not beside
 *   the package's modules; it is loaded by the first use of a lock, of what is built on locks, of a queue, a
 *   sequence, a budget, a rate limit, or a counter of a strategy but the default
 * @property {boolean} [allowWeaker] whether counters may be less durable than was asked for, and locks
 *   exclude or fence less than they promise
 * @property {object} [window] the platform to use instead of `globalThis`
 */

/**
 * Opens a namespace in this context (a page, a worker, Node). Everything under it is shared with all
 * contexts of the same origin that open the same namespace.
 *
 * @param {OpenOptions} [options]
 * @returns {Promise<Tab>} rejects with `invalid-argument`, `unavailable` when the core cannot be loaded, and
 *   `out-of-memory` when the platform gives it no memory
 * @example
 * import { open } from 'tabacus';
 * const tab = await open({ namespace: 'shop' });
 * const visits = tab.counter('visits');
 * visits.add(1);
 * await visits.flush();
 */
export async function open(options = {}) {
    const checked = checkOpenOptions(options);
    // Before the host is made: asking for localStorage may wait for the browser's process.
    const loading = loadModule('single', checked.wasm);
    loading.catch(() => {}); // thrown below
    const host = new Host(checked.platform, checked.namespace);
    try {
        // Beside it: either takes milliseconds, and the core waits for the database by itself.
        if (host.database.available) void host.database.ready();
        return await new Tab(await loading, host, checked)._open();
    } catch (error) {
        host.dispose();
        throw error;
    }
}
