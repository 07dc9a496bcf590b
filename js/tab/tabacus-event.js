/**
 * What went wrong without being the fault of a call.
 *
 * @typedef {object} WarningDetail
 * @property {string} code for programs: `corrupt-record` (a record that cannot be read was moved to quarantine,
 *   all others count), `degraded` (a weaker store is used than the browser has), `slot-lost` (a stranger
 *   stole this tab's lock; it goes on under another), `unknown-commit` (a commit was cut off, and it is
 *   not known whether it happened), `out-of-range` (a counter's records add up beyond ±(2^53 − 1)), `max-hold`
 *   (a lock was held for longer than that, and lost), `hung-holder` (this tab evicted one that did not answer), and for
 *   a commit that failed and is tried again what it failed with: `quota-exceeded`, `store-failed`,
 *   `fenced`, `unavailable`. `unavailable` also tells that a file did not load, and that handlers or listeners wait for
 *   it, and `internal` that the program has failed and the tab is closed
 * @property {string} message one sentence for a person
 * @property {string} subject the record, counter or cause that it is about
 */

/**
 * A store that vanished: the browser threw it away, or somebody deleted it.
 *
 * @typedef {object} StoreLostDetail
 * @property {string} generation the id of the store that replaces it
 * @property {string} previous the id of the one that vanished, or empty where nobody remembers it
 * @property {number} healed how many rows were brought back, from open tabs and the backup in localStorage
 * @property {string} reason one sentence for a person
 */

/**
 * `warning` and `storelost` events of a tab; `detail` has their content.
 *
 * @template [Detail=WarningDetail | StoreLostDetail]
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
