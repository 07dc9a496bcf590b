/**
 * Work that the host does for a tab: a load, a compilation, an instantiation, an `import()`. In the emulator
 * such work completes when the schedule of the origin chooses it (js/emulator/host/host-work.js).
 */

/**
 * Passes work to the schedule of the window, if it has one. Requires that the work settles without further
 * events of the window. A script within a tab of the emulator calls the host through the tab's own functions,
 * which do this themselves.
 *
 * @template Work
 * @param {any} window
 * @param {Work} work begun already
 * @param {string} what for traces
 * @returns {Work} settles as `work` does
 */
export const hostWork = (window, work, what) =>
    window === globalThis ? work : (window[Symbol.for('tabacus.track')]?.(work, what) ?? work);
