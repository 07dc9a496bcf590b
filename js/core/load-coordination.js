/**
 * The program of all that a tab has beside its replicated counters (wasm/src/bindings/coordination), on the host of
 * the tab: loaded by the first use of any of it.
 */

import { learnStorable } from '../host/learn-storable.js';
import { CoordinationBridge } from './coordination-bridge.js';
import { loadModule } from './load-module.js';

/**
 * @typedef {object} CoordinationOptions
 * @property {string} namespace
 * @property {import('../host/host.js').Host} host
 * @property {import('../host/host.js').Platform} platform
 * @property {import('./module.js').WasmSource | undefined} source
 * @property {(notice: import('./bridge.js').Notice) => void} notice
 * @property {(error: import('../common/errors.js').TabacusError) => void} fail
 */

/**
 * @param {CoordinationOptions} options
 * @returns {Promise<CoordinationBridge>}
 */
export async function loadCoordination({ namespace, host, platform, source, notice, fail }) {
    const [glue] = await Promise.all([
        loadModule('coordination', source),
        host.ready().then(() => learnStorable(platform, host.database)),
    ]);
    const bridge = new CoordinationBridge(glue, host, { notice, fail });
    bridge.start(namespace);
    return bridge;
}
