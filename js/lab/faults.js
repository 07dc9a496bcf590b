/** What may happen to tabs, or to what they share. */
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
    ]),
);

/** @typedef {typeof faults[number]} Fault */
