import { invalid, TabacusError } from '../common/errors.js';
import { arenaFields, arenaMagic, arenaVersion, lineBytes } from './arena-layout.js';

/**
 * What another thread needs to attach. Post it as it is; it only makes sense within the page (or the
 * Node process) that it comes from.
 *
 * @typedef {object} SharedHandle
 * @property {WebAssembly.Memory} memory
 * @property {WebAssembly.Module} module attach.wasm, compiled: a worker has nothing to fetch
 * @property {number} root where in the memory the arena begins
 * @property {number} version of the arena's layout
 * @property {string} [livenessPrefix] of a memory that was made with a tab: the prefix of the names of its threads'
 *   liveness locks
 */

const allowed = 'the handle of a SharedMemory, posted unchanged by its page';

/**
 * @param {unknown} handle
 * @returns {SharedHandle}
 */
export function checkHandle(handle) {
    if (typeof handle !== 'object' || handle === null) throw invalid('handle', handle, allowed);
    const { memory, module, root, version, livenessPrefix } = /** @type {Partial<SharedHandle>} */ (handle);
    const whole =
        memory instanceof WebAssembly.Memory &&
        module instanceof WebAssembly.Module &&
        Number.isInteger(root) &&
        Number(root) > 0 &&
        Number(root) % lineBytes === 0 &&
        Number(root) + lineBytes <= memory.buffer.byteLength &&
        (livenessPrefix === undefined || typeof livenessPrefix === 'string');
    if (!whole) throw invalid('handle', handle, allowed);
    const good = /** @type {SharedHandle} */ ({ memory, module, root, version, livenessPrefix });
    checkArena(good);
    return good;
}

/**
 * Checked before the module runs: the start function of another module would run on our memory.
 *
 * @param {WebAssembly.Module} module
 */
export const isAttachModule = (module) =>
    WebAssembly.Module.exports(module).some(({ name }) => name === 'agent_enter');

/**
 * The memory itself must agree with the handle.
 *
 * @param {SharedHandle} handle
 */
function checkArena({ memory, root, version }) {
    const view = new DataView(memory.buffer, root);
    const magic = view.getUint32(arenaFields.magic, true);
    if (magic !== arenaMagic) throw invalid('handle', { memory, root }, allowed);
    const found = view.getUint32(arenaFields.version, true);
    if (version !== arenaVersion || found !== arenaVersion) {
        throw new TabacusError(
            'invalid-argument',
            `the handle is of another version of tabacus (${found}; this one is ${arenaVersion}): load the same version in page and workers`,
            { argument: 'handle', value: found, allowed: `version ${arenaVersion}` },
        );
    }
}
