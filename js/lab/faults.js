/** The faults that may happen to a simulated tab or origin. */
export const faults = Object.freeze(
    /** @type {const} */ ([
        'kill',
        'freeze',
        'throttle',
        'bfcache',
        'lose-database',
        'close-connection',
        'quota',
        'clear-storage',
        'corrupt',
        'browser-crash',
        'suspend',
        'orphaned-lock',
        'clock-jump',
        'dead-connection',
        'hang-transaction',
    ]),
);

/** @typedef {typeof faults[number]} Fault */

/** The faults that may happen in an emulated origin: those above, and failures of parts of the platform. */
export const emulatedFaults = Object.freeze(
    /** @type {const} */ ([
        ...faults,
        'deny-query',
        'refuse-locks',
        'replace-lock-manager',
        'hang-open',
        'missing-chunk',
    ]),
);

/** @typedef {typeof emulatedFaults[number]} EmulatedFault */
