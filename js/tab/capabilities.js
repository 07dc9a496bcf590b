/** What open() has found out about its context. */

/**
 * What tabacus can use in this context.
 *
 * @typedef {object} Capabilities
 * @property {'indexeddb' | 'localstorage' | 'memory'} store where counters are kept
 * @property {boolean} opening whether the database has not opened yet, since `open()` did not wait for it any longer.
 *   Counters count in memory, and their increments are committed when it opens, which a `capabilitieschange` event
 *   tells. Other calls wait for it
 * @property {'web-locks' | 'lease' | 'none'} exclusion how tabs exclude each other: by Web Locks; in a
 *   browser without them by a lease in IndexedDB; `none` if it has neither, and after the warning
 *   `lock-manager-replaced`, of which a `capabilitieschange` event tells, too
 * @property {import('./tab-options.js').Durability} durability the strongest durability that counters can
 *   have
 * @property {boolean} mirror whether the totals of counters are also kept in localStorage, from which they
 *   are recovered if the database is lost. It has room for 2 MB of them; the warning `backup-incomplete` says
 *   that there are more
 * @property {boolean} channel whether there is a BroadcastChannel, by which other tabs learn of an increment
 *   at once
 */

export {};
