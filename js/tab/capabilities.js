/** What open() has found out about its context. */

/**
 * What tabacus can use in this context.
 *
 * @typedef {object} Capabilities
 * @property {'indexeddb' | 'localstorage' | 'memory'} store where counters are kept. It is `memory` if
 *   IndexedDB failed to open or stopped working; a `capabilitieschange` event reports this
 * @property {boolean} opening whether the database has not opened yet, although `open()` has waited for it
 *   (`timeouts.open`). Meanwhile counters count in memory, and other calls wait for the database. When it
 *   opens, these increments are committed, and a `capabilitieschange` event reports it
 * @property {'web-locks' | 'lease' | 'none'} exclusion how tabs exclude each other: by Web Locks; in a
 *   browser without them by a lease in IndexedDB; `none` if it has neither, and after the warning
 *   `lock-manager-replaced`; a `capabilitieschange` event reports this, too
 * @property {import('./tab-options.js').Durability} durability the strongest durability that counters can
 *   have
 * @property {boolean} mirror whether the totals of counters are also kept in localStorage, from which they
 *   are recovered if the database is lost. This copy has room for 2 MB; the warning `backup-incomplete`
 *   reports that it does not hold all totals
 * @property {boolean} [persisted] whether the browser has agreed not to discard the data of the origin when
 *   it needs space. Missing without `open({ persist: true })`, before the browser has answered, and where it
 *   has no answer, as in insecure contexts; a `capabilitieschange` event reports the answer
 * @property {{ usage: number, quota: number }} [estimate] how many bytes the origin uses and may use, as the
 *   browser estimated when it answered `persist`; missing where it has not
 * @property {boolean} channel whether there is a BroadcastChannel, by which other tabs learn of an increment
 *   at once
 */

/**
 * Returns what tabacus can use at this moment.
 *
 * @param {{ store: string, exclusion: string, durability: string, channel: boolean }} found what open() has found
 * @param {import('../host/host.js').Host} host
 * @returns {Readonly<Capabilities>}
 */
export function capabilitiesOf(found, { locks, storage, database: { opening, usable }, persistence }) {
    return Object.freeze({
        .../** @type {Pick<Capabilities, 'store' | 'exclusion' | 'durability' | 'channel'>} */ (found),
        ...(usable ? {} : /** @type {const} */ ({ store: 'memory', durability: 'memory' })),
        ...(locks.cutOff && { exclusion: /** @type {const} */ ('none') }),
        opening,
        // The first use of localStorage blocks. So open() does not look for it, and this looks for it.
        mirror: usable && found.store === 'indexeddb' && storage.available,
        ...persistence,
    });
}
