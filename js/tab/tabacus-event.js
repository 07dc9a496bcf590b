/**
 * A problem that no call of the application caused.
 *
 * @typedef {object} WarningDetail
 * @property {string} code identifies the problem, for programs:
 *   - `corrupt-record`: a record that cannot be read was moved to quarantine; all other records still count
 *   - `version-mismatch`: a tab of a newer version has stored or sent what this one cannot read; emitted once. Close or
 *     reload this tab: what that version stores is left alone, and calls that need it fail with `version-mismatch`
 *   - `older-version`: a tab of an earlier version is open; emitted once. The two versions work together
 *   - `degraded`: the tab uses a weaker store than the browser has
 *   - `backup-incomplete`: the backup in localStorage does not hold all counters, since it may have 2 MB, or since
 *     localStorage is full
 *   - `connection-replaced`: the connection to IndexedDB died, and another one was opened; what was under way was repeated
 *   - `database-unusable`: counters count in memory, and all else fails with `store-failed`. If IndexedDB of this page
 *     and of a new frame fail, only a reload helps. If it does not answer, another tab that is stopped may hold it up; this tab goes on by
 *     itself when it answers again. The message says which
 *   - `store-opening`: IndexedDB has not opened within `timeouts.open`, or another connection holds it up
 *   - `not-persisted`: the browser has refused `open({ persist: true })`, and may discard the data of the origin
 *   - `slot-lost`: another script stole the lock of this tab's slot; the tab takes another slot
 *   - `unknown-commit`: a commit was cut off, and it is not known whether it happened
 *   - `out-of-range`: the records of a counter add up to a value beyond ±(2^53 − 1)
 *   - `max-hold`: this tab lost a lock, because it held it for longer than `maxHold`
 *   - `unfenced-lock`: the database failed, and a lock with the option `fence: 'preferred'` is granted without a
 *     token
 *   - `slow-lock`: a request for a lock or a semaphore has waited for 10 s (`open({ timeouts: { slowLock } })`)
 *   - `lock-manager-replaced`: site data was cleared, and new tabs have another lock manager than this one, which
 *     takes part in no lock, queue or limit any more until its page is reloaded
 *   - `hung-holder`: this tab evicted the holder of a lock that did not answer
 *   - `unhandled-job`: jobs that this tab has enqueued are due, and no tab has handled a job of the queue for 10 s
 *   - `quota-exceeded`, `store-failed`, `fenced`, `unavailable`: a commit failed with this error; it is tried again.
 *     After `database-unusable`, `store-failed` is not emitted until IndexedDB works again
 *   - `unavailable` also: a file could not be loaded, and handlers or listeners wait for it
 *   - `internal`: the program has failed, and the tab is closed
 * @property {string} message one sentence for a person
 * @property {string} subject the record, the counter or the cause that the warning is about
 */

/**
 * The loss of the store: the browser discarded the database, or somebody deleted it.
 *
 * @typedef {object} StoreLostDetail
 * @property {string} generation the id of the store that replaces the lost one
 * @property {string} previous the id of the lost store, or an empty string if it is not known
 * @property {number} healed how many rows were recovered, from open tabs and from the backup in localStorage
 * @property {string} reason one sentence for a person
 */

/**
 * A `warning`, `storelost` or `capabilitieschange` event of a tab; `detail` describes what happened. That of
 * `capabilitieschange` is the new `tab.capabilities`.
 *
 * @template [Detail=WarningDetail | StoreLostDetail | import('./tab.js').Capabilities]
 */
export class TabacusEvent extends Event {
    /**
     * @param {string} type
     * @param {Detail} detail
     */
    constructor(type, detail) {
        super(type);
        this.detail = Object.freeze(detail);
    }
}
