/**
 * The connection to the IndexedDB database of a namespace. It follows four rules:
 * - It is opened without a version. So tabs of this release can share it with tabs of a later release, which
 *   may have raised the version.
 * - It closes when it receives `versionchange`, so that no upgrade or deletion by another tab waits for it.
 * - After it was lost, the next use opens it again. If connections die one after another, a few are replaced at once;
 *   after that each use makes one attempt.
 * - Every caller gets an answer. If the browser does not answer an opening in time, the callers get a failure, and
 *   the opening goes on.
 */

import { DatabaseFactories } from './database-factories.js';
import { storeFailure } from './failure.js';
import { isComplete, upgrade } from './schema.js';

/**
 * How long to wait before a connection that died is replaced, by the number of failures in a row. If the storage
 * process of a browser has crashed, the browser starts another one within some 100 ms. If the last attempt fails, too,
 * only a new document helps: a page makes a hidden frame, and a Worker has to be started again.
 */
const backOff_ms = [0, 0, 100, 400];

/**
 * How long calls fail at once after the last attempt has failed. It is longer than the pauses after which protocols
 * try again, and shorter than the time after which a user tries again.
 */
const rest_ms = 1_000;

/** The message for a database that has the name of this namespace's database, but was made by other code. */
export const foreignDatabase = 'a foreign database has the name';

/** @typedef {(connection: IDBDatabase | undefined, why: import('./failure.js').Failure) => void} Opened */

/** Opens the connection, keeps it, and reports when it is lost. */
export class DatabaseConnection {
    /** @protected */ _factories;
    #name;
    #host;
    #report;

    /** The connection, while it is open. @type {IDBDatabase | undefined} @protected */
    _connection;

    /**
     * The callers that wait for a pending opening; undefined if none is pending.
     * @type {Opened[] | undefined}
     * @protected
     */
    _waiting;

    /** Repeats the request of a pending opening. @type {(() => void) | undefined} */
    #openAnew;

    /** Whether keepOpenDuring() runs. */
    #kept = false;

    /** Whether close() was called meanwhile. */
    #closeLater = false;

    /** @protected */ _disposed = false;

    /** Whether a connection was open before. */
    #wasOpen = false;

    /** How often in a row a connection has died or could not be replaced. One that did not answer counts twice. */
    #failures = 0;

    /** Whether the last connection was dropped because it did not answer. */
    #hung = false;

    /** Until when calls fail at once, by the monotonic clock. */
    #restUntil_ms = 0;

    /** Why the last connection died, until another one is open. */
    #cause = '';

    /** Why a caller cannot wait for the pending opening. @type {import('./failure.js').Failure | undefined} */
    #openingFailure;

    /** Settles the operation of open(), if it waits. @type {Opened | undefined} */
    #starting;

    /** Whether the opening takes longer than `timeouts.open`. */
    opening = false;

    /** Whether the database works, as far as is known: false after `database-unusable`, until it works again. */
    usable = true;

    /** Ends the bounds of the pending opening. @type {(() => void) | undefined} */
    #stopWatching;

    /** Whether the platform has IndexedDB. The database may refuse to open all the same. */
    available;

    /** Whether a connection was closed: site data may have been cleared since. */
    wasClosed = false;

    /** Whether IndexedDB refuses every call, because the user blocks site data. */
    refused = false;

    /**
     * @param {import('./host.js').Platform} platform
     * @param {string} namespace
     * @param {Pick<import('./host.js').Host, 'clock' | 'timeouts' | 'warn' | 'capabilitiesChanged'>} host
     * @param {import('./host.js').HostEvents} report
     */
    constructor(platform, namespace, host, report) {
        this._factories = new DatabaseFactories(platform);
        this.available = this._factories.current !== undefined;
        this.#name = `tabacus/${encodeURIComponent(namespace)}`;
        this.#host = host;
        this.#report = report;
    }

    /**
     * Opens the connection ahead of the first transaction.
     * @returns {Promise<void>} resolves when it is open, or has refused to open
     */
    ready() {
        return new Promise((resolve) => this.use(() => resolve()));
    }

    /**
     * Settles the operation when the connection is open, or when the opening takes longer than `timeouts.open`.
     * @param {number} operation
     */
    open(operation) {
        const opened = (/** @type {IDBDatabase | undefined} */ connection, /** @type {any} */ why) => {
            if (this.#starting !== opened) return;
            this.#starting = undefined;
            if (connection || this.opening) this.#report.settled(operation);
            else this.#report.failed(operation, .../** @type {import('./failure.js').Failure} */ (why));
        };
        this.#starting = opened;
        if (this.opening) opened(undefined, undefined);
        else this.use(opened);
    }

    /**
     * Opens the connection, unless it is open, and calls `opened` with it or with a failure.
     *
     * @param {Opened} opened called before this returns if the connection is open
     */
    use(opened) {
        this._checkFrame();
        if (this._connection) {
            opened(this._connection, ['store-failed', '']);
        } else if (this.#openingFailure || this._resting) {
            opened(undefined, this.#openingFailure ?? this._withAdvice(['store-failed', this.#cause]));
        } else if (this._waiting) {
            this._waiting.push(opened);
        } else {
            this._waiting = [opened];
            this.#requestLater();
        }
    }

    /** Requests the connection, after a pause if the last ones died. */
    #requestLater() {
        const pause_ms = backOff_ms[this.#failures] ?? 0;
        if (pause_ms > 0) this.#host.clock.after(pause_ms, () => this.#request(undefined));
        else this.#request(undefined);
    }

    /** Whether connections have died so often that operations are not repeated. @protected */
    get _exhausted() {
        return this._disposed || this.#failures >= backOff_ms.length;
    }

    /**
     * Drops a connection that is dead, so that the next use opens another one.
     *
     * @param {IDBDatabase} connection
     * @param {string} cause
     * @param {boolean} hung whether it did not answer, so that its callers have waited for long already
     * @protected
     */
    _replace(connection, cause, hung) {
        if (this._connection !== connection) return;
        const { frame } = this._factories;
        this.#fail(cause, hung);
        this._drop(connection);
        connection.close();
        // In a frame that is removed, the other transactions of the connection get no event.
        if (frame && frame !== this._factories.frame) this._disconnected(connection);
    }

    /** If the page has removed the frame, opens the database anew. The connections of the frame get no event. @protected */
    _checkFrame() {
        if (!this._factories.removed) return;
        this._factories.usePage();
        if (this._connection) return this.#lost(this._connection);
        this.#unwatch();
        if (this._waiting) this.#openAnew?.();
    }

    /**
     * Counts a connection that died or was not replaced. After the last attempt the database is unusable.
     *
     * @param {string} cause
     * @param {boolean} hung
     */
    #fail(cause, hung) {
        if (this._disposed) return;
        this.#cause = cause;
        this.#hung = hung;
        const before = this._exhausted;
        this.#failures += hung ? 2 : 1;
        if (!this._exhausted) return;
        if (!hung && this._factories.alternate() && !before) {
            this.#failures = backOff_ms.length - 1; // one attempt more
            return;
        }
        this.#restUntil_ms = this.#host.clock.monotonic() + rest_ms;
        if (before) return;
        this.#host.warn('database-unusable', this.#unusable, cause);
        this.#setUsable(false);
    }

    /** @param {boolean} usable */
    #setUsable(usable) {
        if (this.usable === usable) return;
        this.usable = usable;
        this.#host.capabilitiesChanged();
    }

    /** Whether calls fail at once. @protected */
    get _resting() {
        return this._exhausted && this.#host.clock.monotonic() < this.#restUntil_ms;
    }

    /** Notes that a transaction was completed. @protected */
    _succeeded() {
        this.#failures = 0;
        this._factories.worked();
        this.#setUsable(true);
    }

    /**
     * Returns a failure for a caller. After the last attempt, its message also advises what to do.
     *
     * @param {import('./failure.js').Failure} failure
     * @returns {import('./failure.js').Failure}
     * @protected
     */
    _withAdvice([code, message]) {
        return [code, (this._exhausted ? `${this.#unusable}. ` : '') + message];
    }

    /**
     * The message of `database-unusable` and of later failures. If the database does not answer, another tab that is
     * stopped may block it. If the database fails, perhaps only a new document helps.
     */
    get #unusable() {
        const advice = this.#hung ? 'answer: close the tab that holds it up, or wait, else' : 'work:';
        return `IndexedDB of this page does not ${advice} reload the page`;
    }

    /**
     * Runs `call`, and delays a close of the connection until it returns. When the page is left, the replica
     * closes the connection, but queues and limits must begin their last commits before that.
     *
     * @param {() => void} call
     */
    keepOpenDuring(call) {
        const outer = this.#kept;
        this.#kept = true;
        call();
        this.#kept = outer;
        if (this.#closeLater && !outer) this.close();
    }

    /** Closes the connection. The browser does so once the pending transactions have ended. */
    close() {
        this.#closeLater = this.#kept;
        if (this.#kept) return;
        const connection = this._connection;
        this._connection = undefined;
        this.wasClosed = true;
        connection?.close();
    }

    /**
     * Repeats a pending opening, since the browser forgets it while the page is in the back/forward cache.
     */
    returned() {
        this.#openAnew?.();
    }

    /** Closes the connection, and every connection that opens after this. */
    dispose() {
        this._disposed = true;
        this.close();
    }

    /**
     * Called when a connection has opened. The stores of its database may have another shape than before.
     * @protected
     */
    _connected() {}

    /**
     * Called when a connection was lost: its transactions get no more events.
     *
     * @param {IDBDatabase | undefined} connection undefined for all
     * @protected
     */
    _disconnected(connection) {
        void connection;
    }

    /** The browser has closed a connection. @param {IDBDatabase} connection */
    #lost(connection) {
        this._disconnected(connection);
        this._drop(connection);
    }

    /** Forgets a connection that is closed. @param {IDBDatabase} connection @protected */
    _drop(connection) {
        if (this._connection !== connection) return;
        this._connection = undefined;
        this.wasClosed = true;
        this.#report.databaseClosed();
    }

    /**
     * Upgrades a foreign database that has our name: adds the stores that are missing, and changes no record.
     * @param {IDBDatabase} connection
     * @protected
     */
    _upgradeForeign(connection) {
        this._connection = undefined;
        connection.close();
        this._waiting = [];
        this.#request(connection.version + 1);
    }

    /**
     * Requests the connection.
     *
     * @param {number | undefined} version undefined for the version that the database has
     * @param {boolean} [full] whether an upgrade writes no row, because the disk is full
     */
    #request(version, full = false) {
        let over = false;
        let upgrading = false;
        this.#stopWatching ??= this.#watchOpening(); // the bounds hold for all attempts together
        /**
         * @param {IDBDatabase | undefined} connection
         * @param {import('./failure.js').Failure} [why]
         */
        const finish = (connection, why = ['store-failed', 'the database does not open']) => {
            if (over) return connection?.close();
            over = true;
            this.#opened(connection, why, version !== undefined);
        };
        const openAnew = (/** @type {boolean} */ full) => {
            if (over) return;
            over = true;
            this.#request(version, full);
        };
        this.#openAnew = () => openAnew(full);
        try {
            const request = /** @type {IDBFactory} */ (this._factories.current).open(this.#name, version);
            request.onupgradeneeded = (event) => {
                upgrading = true;
                const dataLoss = upgrade(request, event, full ? undefined : this.#host.clock);
                if (dataLoss !== undefined) this.#report.databaseCreated(dataLoss);
            };
            request.onblocked = () => {
                const message = 'Another connection to the database holds up its upgrade.';
                this.#host.warn('store-opening', message, this.#name);
            };
            request.onsuccess = () => finish(request.result);
            request.onerror = (event) => {
                event.preventDefault();
                // The error of a failed upgrade is always an AbortError. The reason may be a full disk: so
                // the upgrade is repeated without a row.
                if (upgrading && !full) openAnew(true);
                else finish(undefined, storeFailure(request.error));
            };
        } catch (error) {
            finish(undefined, storeFailure(error));
        }
    }

    /**
     * Bounds the waits for the pending opening: that of open() by `timeouts.open`, and that of all other callers by
     * `timeouts.transaction`. An opening waits for the disk, and for other tabs to close the connections that
     * block an upgrade or a deletion.
     *
     * @returns {() => void} ends this
     */
    #watchOpening() {
        const { clock, timeouts } = this.#host;
        const stopOpen = clock.after(timeouts.open, () => {
            if (this.opening) return;
            this.opening = true;
            this.#host.warn(
                'store-opening',
                `IndexedDB has not opened within ${timeouts.open} ms; counters count in memory until it does.`,
                this.#name,
            );
            this.#host.capabilitiesChanged();
            this.#starting?.(undefined, ['store-failed', '']);
        });
        const stopOthers = clock.after(timeouts.transaction, () => {
            this.#openingFailure = [
                'store-failed',
                `the database has not opened within ${timeouts.transaction} ms: another tab may block it`,
            ];
            this.#answer(undefined, this.#openingFailure);
        });
        return () => {
            stopOpen();
            stopOthers();
        };
    }

    /** Ends the bounds of an opening. */
    #unwatch() {
        this.#stopWatching?.();
        this.#stopWatching = undefined;
        this.#openingFailure = undefined;
    }

    /**
     * Ends an opening: keeps the connection, and answers the callers.
     *
     * @param {IDBDatabase | undefined} connection
     * @param {import('./failure.js').Failure} why
     * @param {boolean} upgraded whether the opening has upgraded the database
     * @returns {void}
     */
    #opened(connection, why, upgraded) {
        if (connection && !isComplete(connection)) {
            // This is a foreign database, as in _upgradeForeign(). It is upgraded once.
            connection.close();
            if (!upgraded) return this.#request(connection.version + 1);
            [connection, why] = [undefined, ['store-failed', foreignDatabase]];
        }
        this.refused = !connection && why[1].startsWith('SecurityError');
        if (connection && this._disposed) {
            connection.close();
            connection = undefined;
        }
        if (connection) {
            this.#keep(connection);
        } else if (this.#wasOpen) {
            this.#fail(why[1], false);
            if (!this._exhausted) return this.#requestLater();
        }
        this.#unwatch();
        const late = this.opening;
        this.opening = false;
        this.#answer(connection, connection ? why : this._withAdvice(why));
        if (!late) return;
        this.usable = connection !== undefined;
        if (!connection) this.#host.warn('database-unusable', this.#unusable, why[1]);
        this.#host.capabilitiesChanged();
    }

    /**
     * Answers the callers that wait for the opening.
     *
     * @param {IDBDatabase | undefined} connection
     * @param {import('./failure.js').Failure} why
     */
    #answer(connection, why) {
        const waiting = this._waiting ?? [];
        // The list is emptied before the callbacks run, since a callback that gets a failure may call use() again,
        // and then waits for a new opening.
        this._waiting = this.#openingFailure && []; // then the opening goes on
        for (const opened of waiting) opened(connection, why);
        this._tidy();
    }

    /** Called when an opening has ended. @protected */
    _tidy() {}

    /** Keeps a connection, and listens for its end. @param {IDBDatabase} connection */
    #keep(connection) {
        this._connection = connection;
        this.#wasOpen = true;
        this._connected();
        if (this.#cause && !this._exhausted)
            this.#host.warn(
                'connection-replaced',
                'The connection to IndexedDB died, and another one was opened.',
                this.#cause,
            );
        this.#cause = '';
        connection.onversionchange = () => {
            connection.close();
            this._drop(connection);
        };
        connection.onclose = () => this.#lost(connection);
    }
}
