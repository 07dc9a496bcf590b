/** Tasks of the host, in which the emulator's tasks and those of its databases run. */

import { postTask } from './host-channel.js';
import { originalFunction } from './host-timers.js';

/**
 * How many calls of an origin in a row need not yield. Each origin counts its own calls, since otherwise the calls of
 * other origins would influence its schedule.
 */
export const unyieldingMax = 256;

/** @typedef {(call: () => void) => unknown} Start */

/** Node's own functions. Both are undefined until both are found. @type {Start | undefined} */
let nextTick;
/** @type {Start | undefined} */
let setImmediate;
findTasks();

/** Looks for Node's own functions. @returns {boolean} whether they are found */
function findTasks() {
    const [tick, immediate] = [originalFunction('nextTick'), originalFunction('setImmediate')];
    if (!tick || !immediate) return false;
    [nextTick, setImmediate] = [tick, immediate];
    return true;
}

// A reaction of a promise is cheaper than queueMicrotask(), which makes an AsyncResource.
const settled = Promise.resolve();

/**
 * Calls a function after all microtasks have run. If `yields`, it is called in a later task of the host, so that the
 * host's own tasks run before it. The order of the calls does not depend on the functions of the host that are found:
 * calls that yield run in their order, and other calls overtake them.
 *
 * @param {() => void} call
 * @param {boolean} [yields]
 */
export function hostTask(call, yields = false) {
    if (!nextTick || !setImmediate) overChannel(call, yields);
    else if (yields) setImmediate(call);
    // Node runs a tick that a microtask requests once no microtask is left.
    else settled.then(() => /** @type {Start} */ (nextTick)(call));
}

/** The calls that wait for messages: those that do not yield, and those that do. @type {[(() => void)[], (() => void)[]]} */
const [immediate, yielding] = [[], []];

/** @param {() => void} call @param {boolean} yields */
function overChannel(call, yields) {
    const waits = immediate.length + yielding.length > 0;
    if (!waits && replaced() && findTasks()) return hostTask(call, yields);
    (yields ? yielding : immediate).push(call);
    return postTask(next, yields);
}

/** Each message runs one call, so that all microtasks run before the next one. */
const next = () => (immediate.shift() ?? yielding.shift())?.();

/** The functions of the global object at the last look. @type {unknown[]} */
let last = [];

/** Whether the functions of the global object have changed since the last look: fake timers may be uninstalled. */
function replaced() {
    const { setImmediate, process } = /** @type {any} */ (globalThis);
    const before = last;
    last = [setImmediate, process?.nextTick];
    return last.some((one, at) => one !== before[at]);
}

/** Whether the global setImmediate() runs its calls in the order of hostTask(). */
export const isHostImmediate = () =>
    setImmediate !== undefined && /** @type {any} */ (globalThis).setImmediate === setImmediate;
