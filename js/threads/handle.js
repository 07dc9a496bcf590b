import { invalid, TabacusError } from '../common/errors.js';
import { arenaFields, arenaMagic, arenaVersion, lineBytes } from './arena-layout.js';

/**
 * A handle: the data that another thread needs to attach to a shared memory. It is posted to the thread
 * unchanged, and is valid only within the page or the process of Node that made it.
 *
 * @typedef {object} SharedHandle
 * @property {WebAssembly.Memory} memory
 * @property {WebAssembly.Module} module the compiled attach.wasm, so that a Worker has nothing to fetch
 * @property {number} root the address of the arena
 * @property {number} version the version of the arena's layout
 * @property {string} livenessPrefix the prefix of the names of its threads' liveness locks
 * @property {boolean} tabLocks whether the memory was made with a tab
 */

const allowed = 'the handle of a SharedMemory, posted unchanged by its page';

/**
 * Checks a handle, and returns a copy of it.
 *
 * @param {unknown} handle
 * @returns {SharedHandle}
 * @throws {TabacusError} `invalid-argument`
 */
export function checkHandle(handle) {
    if (typeof handle !== 'object' || handle === null) throw invalid('handle', handle, allowed);
    const { memory, module, root, version, livenessPrefix, tabLocks } = /** @type {Partial<SharedHandle>} */ (
        handle
    );
    const whole =
        memory instanceof WebAssembly.Memory &&
        module instanceof WebAssembly.Module &&
        Number.isInteger(root) &&
        Number(root) > 0 &&
        Number(root) % lineBytes === 0 &&
        Number(root) + lineBytes <= memory.buffer.byteLength &&
        typeof livenessPrefix === 'string' &&
        typeof tabLocks === 'boolean';
    if (!whole) throw invalid('handle', handle, allowed);
    const good = /** @type {SharedHandle} */ ({
        memory,
        module,
        root,
        version,
        livenessPrefix,
        tabLocks,
    });
    checkArena(good);
    return good;
}

/**
 * Whether a module is attach.wasm. This is checked before it is instantiated, because the start function of
 * another module would run on the memory.
 *
 * @param {WebAssembly.Module} module
 */
export const isAttachModule = (module) =>
    WebAssembly.Module.exports(module).some(({ name }) => name === 'agent_enter');

/**
 * Checks that the memory contains an arena of this version, at the address that the handle names.
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
