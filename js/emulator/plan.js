/** The plan of an exploration: its checked arguments. */

/**
 * @typedef {object} Plan the arguments of explore(), checked
 * @property {any} glue
 * @property {any} fakeIndexedDB
 * @property {import('./scenario.js').Scenario | string} scenario
 * @property {((context: import('./scenario.js').SetupContext) => unknown) | undefined} setup
 * @property {(context: import('./scenario.js').InvariantContext) => unknown} invariant
 * @property {number} tabs
 * @property {readonly number[]} recordFormats
 * @property {readonly import('../lab/faults.js').EmulatedFault[]} faults
 * @property {number} faultBudget
 * @property {number} stepsMax
 * @property {number} timerWindow_ms
 * @property {import('./origin.js').OriginOptions} origin
 * @property {AbortSignal | undefined} signal
 * @property {import('./verdict/host-waits.js').HostWaits} hostWaits
 */

export {};
