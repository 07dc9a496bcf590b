/**
 * The program of all that a tab has beside its replicated counters (wasm/src/bindings/coordination), on the host of
 * the tab: loaded by the first use of any of it.
 */

import { learnStorable } from '../host/learn-storable.js';
import { CoordinationBridge } from './coordination-bridge.js';
// @ts-ignore: made by the build, and not there when types are checked
import start from './coordination.js';
import { startModule } from './load-module.js';

/**
 * @typedef {object} CoordinationOptions
 * @property {string} namespace
 * @property {import('../host/host.js').Host} host
 * @property {import('../host/host.js').Platform} platform
 * @property {Promise<WebAssembly.Module>} module of coordination.wasm
 * @property {(notice: import('./bridge.js').Notice) => void} notice
 * @property {(error: import('../common/errors.js').TabacusError) => void} fail
 */

/** The counters' program is 0. */
const program = 1;

/**
 * @param {CoordinationOptions} options
 * @returns {Promise<CoordinationBridge>}
 */
export async function loadCoordination({ namespace, host, platform, module, notice, fail }) {
    const [glue] = await Promise.all([
        startModule('coordination', start, module),
        host.ready().then(() => learnStorable(platform, host.database)),
    ]);
    const bridge = new CoordinationBridge(glue, host, { notice, fail });
    bridge.start(namespace, program);
    return bridge;
}
