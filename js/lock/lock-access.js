import { closedError, TabacusError } from '../common/errors.js';

/**
 * @typedef {object} LockCapabilities
 * @property {'web-locks' | 'lease' | 'page'} exclusion how locks exclude other tabs: by Web Locks, by a lease
 *   in IndexedDB, or not at all (`page`: they only hold within this page)
 * @property {boolean} fenced whether held.commit() works
 */

/**
 * Whether the locks of a handle can be used.
 *
 * | state | begins | a call of the application | a later step of a call | the core |
 * |---|---|---|---|---|
 * | open | with the handle | proceeds, unless a weaker guarantee is refused | the same | is called |
 * | closed | when the application closes the tab | throws `closed` | throws `closed` | is called to release |
 * | failed | when the program fails | throws `closed` | throws the failure | is not called |
 */
export class LockAccess {
    /**
     * Why calls are refused, if they are: the tab is closed, or the program has failed.
     * @type {TabacusError | undefined}
     * @internal
     */
    _ended;

    #capabilities;

    /** Whether locks are fenced here, or the application allows weaker ones. */
    #allowed;

    /**
     * @param {Readonly<LockCapabilities>} capabilities
     * @param {boolean} allowWeaker
     */
    constructor(capabilities, allowWeaker) {
        this.#capabilities = capabilities;
        this.#allowed = allowWeaker || capabilities.fenced;
    }

    /** Whether the program has failed, so that it must not be called. @internal */
    _hasFailed() {
        return this._ended?.code === 'internal';
    }

    /**
     * Checks, at the beginning of a call of the application, that locks can be used.
     *
     * @param {boolean} [fenceOptional] whether the call needs no fence where Web Locks exclude
     * @internal
     */
    _assertAsked(fenceOptional) {
        if (this._ended) throw closedError();
        this._assertOpen(fenceOptional);
    }

    /**
     * Checks, in a later step of a call, that locks can still be used.
     *
     * @param {boolean} [fenceOptional] as for _assertAsked()
     * @internal
     */
    _assertOpen(fenceOptional = false) {
        if (this._hasFailed()) throw this._ended; // the application called before the program failed
        if (this._ended) throw closedError();
        if (this.#allowed || (fenceOptional && this.#capabilities.exclusion === 'web-locks')) return;
        throw new TabacusError(
            'weaker-guarantee',
            this.#capabilities.exclusion === 'page'
                ? 'there are neither Web Locks nor IndexedDB here, so that a lock holds within this page only: open({ allowWeaker: true }) allows that'
                : 'there is no IndexedDB here, so that a lock has no fence: open({ allowWeaker: true }) allows that',
        );
    }

    /**
     * Checks that there is a database.
     *
     * @param {string} what what is kept in the database, for the message
     * @throws {TabacusError} `unavailable`
     * @internal
     */
    _assertStore(what) {
        if (!this.#capabilities.fenced)
            throw new TabacusError('unavailable', `there is no IndexedDB here, in which ${what} are kept`);
    }
}
