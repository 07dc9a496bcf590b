/** What a browser has that fake timers do not replace. */

const { AbortSignal } = globalThis;

/**
 * The functions of a name, of which some may be fakes.
 *
 * @param {string} name
 * @returns {unknown[]}
 */
export function candidates(name) {
    const host = /** @type {any} */ (globalThis);
    return [host[name], host.process?.[name]];
}

/** The host's own Date. @returns {unknown} undefined: no object of a browser leads to it */
export const dateConstructor = () => undefined;

/** The signals that are waited for, since engines may collect a signal that nothing holds. */
const signals = new Set();

/**
 * Waits in the time of the machine.
 *
 * @param {number} delay_ms
 * @returns {Promise<unknown>}
 */
export function waitInRealTime(delay_ms) {
    const signal = AbortSignal.timeout(delay_ms);
    signals.add(signal);
    return new Promise((resolve) => signal.addEventListener('abort', resolve)) //
        .finally(() => signals.delete(signal));
}
