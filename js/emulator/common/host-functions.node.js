/**
 * What Node has that fake timers do not replace. The exports of node:timers stay what they were at the first import in
 * the process. The timers of `scheduler` and the dates of node:v8 are Node's own.
 */

import * as timers from 'node:timers';
import { scheduler } from 'node:timers/promises';
import { deserialize } from 'node:v8';
import { runInThisContext } from 'node:vm';

/** Reads a Date in the format of v8.serialize(): a version, a tag, and the time. @returns {Date} */
const readDate = () => deserialize(Buffer.of(0xff, 0x0f, 0x44, 0, 0, 0, 0, 0, 0, 0, 0));

/**
 * The functions of a name, of which some may be fakes.
 *
 * @param {string} name
 * @returns {unknown[]}
 */
export function candidates(name) {
    const host = /** @type {any} */ (globalThis);
    // In Jest, the global `process` is a copy, and only the copy has the fakes.
    const process = runInThisContext('process');
    return [host[name], host.process?.[name], Reflect.get(timers, name), process[name]];
}

/** The host's own Date. @returns {unknown} */
export const dateConstructor = () => readDate().constructor;

/**
 * Waits in the time of the machine. The wait does not keep the process alive.
 *
 * @param {number} delay_ms
 * @returns {Promise<unknown>}
 */
export const waitInRealTime = (delay_ms) =>
    Object.getPrototypeOf(scheduler).wait.call(scheduler, delay_ms, { ref: false });
