/**
 * The transferable objects of the emulator (HTML §2.7.2) and their transfer steps. It is a module of its own, since
 * the modules of postMessage() and of ports would otherwise import each other.
 */

/**
 * @typedef {object} TransferSteps
 * @property {(object: any) => boolean} isDetached whether the object was closed or transferred before
 * @property {(object: any) => object} transfer detaches the object and returns what it becomes elsewhere
 */

/** @type {WeakMap<object, TransferSteps>} */
const stepsOf = new WeakMap();

/** @param {object} object @param {TransferSteps} steps */
export const makeTransferable = (object, steps) => void stepsOf.set(object, steps);

/** @param {any} value */
export const isTransferable = (value) => stepsOf.has(value);

/** Requires a transferable object. @param {object} object */
export const isDetached = (object) => stepsOf.get(object)?.isDetached(object) ?? false;

/** Requires a transferable object. @param {object} object @returns {any} */
export const transfer = (object) => stepsOf.get(object)?.transfer(object);
