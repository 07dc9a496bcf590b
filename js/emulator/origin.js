/// <reference lib="esnext.disposable" preserve="true" />
/** An emulated origin: its tabs, its schedule, and the faults that may happen to what the tabs share. */

import { invalid, TabacusError } from '../common/errors.js';
import { checkInteger, checkOneOf, checkOptions } from '../common/check-arguments.js';
import { BroadcastMessages } from './messages/broadcast-channel.js';
import { SeededRandom } from './common/seeded-random.js';
import { OriginClock } from './global/clock.js';
import { Rules, runLengthDefault } from './rules.js';
import { trusted } from '../platform/events.js';
import { hostTask, unyieldingMax } from './common/host-task.js';
import { checkKey, closeConnections, databasesOf, loseDatabases } from './database/indexed-db.js';
import { describe, shorten } from './common/describe.js';
import { breakDatabases, databaseFaults } from './database/troubles.js';
import { checkRecord } from './check-record.js';
import { recordFormatOf } from './record-format.js';
import { isStorage } from '../platform/storage-interface.js';
import { delivered, tracked } from './host/host-work.js';
import { checkTabOf, sameOriginUrl, Tab } from './emulated-tab.js';
import { dispatched } from './dom/event-target.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('./origin-options.js').OriginOptions} OriginOptions */

/** The largest number of the browser's own steps that one call of step() takes. */
const unseenMax = 100_000;

/** @type {typeof Symbol.dispose} */
const dispose = /** @type {any} */ (Symbol.dispose ?? Symbol.for('Symbol.dispose'));

export class Origin {
    /** The open tabs. @type {Tab[]} */
    tabs = [];
    /** @type {Map<number, Context>} */
    contexts = new Map();
    /** The context whose task runs. @type {Context | undefined} */
    current;
    broadcasts = new BroadcastMessages();
    #eventKind;
    #tabsOpened = 0;
    #pumping = false;
    #turns = 0;
    /** Whether a tab has drawn random numbers. */
    drawsRandom = false;
    /** How many events have happened. */
    happened = 0;
    #closed = false;
    /** The addresses of closed contexts. Their writes may still be under way. @type {Map<number, string>} */
    #addresses = new Map();
    #lastTask = 0;
    #work = 0;
    #holds = 0;
    /** @type {(() => void)[]} */
    #waiting = [];
    /** @type {string[]} */
    #clientIds = [];

    /**
     * @param {import('./rules.js').EmulatorModule} module
     * @param {OriginOptions} options
     * @param {any} fakeIndexedDB
     * @internal
     */
    constructor(module, options, fakeIndexedDB) {
        this.url = options.url;
        this.seed = options.seed ?? 1;
        this.rules = new Rules(module, {
            storage: options.storage,
            equalWrites: options.quirks.dropsEqualWrites ? 'dropped' : 'sent',
            wakeAfterAbort: options.quirks.wakesAfterAbort,
        });
        this.#eventKind = { ...module.EventKind }; // engines read embind's own object slowly
        const { calls } = this.rules;
        if (options.seed !== undefined) calls.runBySeed(options.seed, 0, runLengthDefault, false);
        if (options.quota_bytes !== undefined) calls.setQuota(options.quota_bytes);
        this.random = new SeededRandom(this.seed);
        this.clock = new OriginClock(this.rules, options.clock);
        this.database = databasesOf(fakeIndexedDB);
        this.persistence = { allowed: options.persistence === 'granted', granted: false };
    }

    /**
     * Opens a tab.
     *
     * @param {{ opener?: Tab, url?: string | URL, recordFormat?: number }} [options] `opener`: a tab with which the new
     *   one shares the process, if it is open; the new tab starts with a copy of its sessionStorage. `url`: a URL of this
     *   origin. `recordFormat`: the format in which tabacus writes records in this tab, an integer from 1 to 9999, as if
     *   the tab had a later version of tabacus; 1 by default
     * @returns {Tab}
     * @throws {TabacusError} `invalid-argument`; `closed`
     */
    openTab(options = {}) {
        const given = /** @type {any} */ (checkOptions(options, ['opener', 'url', 'recordFormat']));
        const { opener, url = '', recordFormat: format } = given;
        if (opener !== undefined) checkTabOf(this, 'opener', opener);
        const href = sameOriginUrl(url, this.url);
        if (this.#closed) throw new TabacusError('closed', 'the origin is closed: create another');
        const recordFormat = recordFormatOf(format);
        const tab = new Tab(this, { opener, url: href, recordFormat, number: ++this.#tabsOpened });
        this.tabs.push(tab);
        return tab;
    }

    /**
     * Forgets a context except for its address, which later events of its writes report.
     *
     * @param {Context} context @internal
     */
    forgetContext({ id, kind, address: { href } }) {
        this.contexts.delete(id);
        if (kind === 'window') this.#addresses.set(id, href === this.url ? this.url : href);
    }

    /** @param {Tab} tab @internal */
    forget(tab) {
        this.tabs = this.tabs.filter((one) => one !== tab);
        this.wake();
    }

    // --- Faults of what the tabs share

    /** @param {string} what */
    #trace(what) {
        this.rules.noteEverything();
        this.rules.trace(0, 'faults', () => what);
    }

    /**
     * Clears the site's data, as a user can: empties storages and databases, without events, and closes connections.
     * @param {{ newLockManager?: boolean }} [options] `newLockManager`: documents that open later have another lock
     *   manager than those that are open, as in Chromium after `Clear-Site-Data: "storage"`
     * @throws {TabacusError} `invalid-argument`
     */
    clearSiteData(options = {}) {
        const { newLockManager } = checkOptions(options, ['newLockManager']);
        this.#trace(`the site's data is cleared${newLockManager ? '; new documents get other locks' : ''}`);
        this.rules.calls.wipe(Boolean(newLockManager));
        if (this.database) loseDatabases(this.database);
    }

    /** Deletes all databases, although connections are open. */
    loseDatabase() {
        this.#trace('the database is lost');
        if (this.database) loseDatabases(this.database);
    }

    /**
     * Closes the connections of one tab, or of all tabs, as a browser may.
     *
     * @param {Tab} [tab]
     * @throws {TabacusError} `invalid-argument`
     */
    closeConnections(tab) {
        if (tab !== undefined) checkTabOf(this, 'tab', tab);
        this.rules.noteEverything();
        if (this.database) closeConnections(this.database, tab ? tab.contexts : [...this.contexts.values()]);
    }

    /**
     * Lets IndexedDB fail in a tab, until its document is replaced or the returned function is called.
     * @param {Tab} tab
     * @param {import('./database/troubles.js').DatabaseFault} fault
     * @param {{ event?: boolean, forGood?: boolean }} [options] of `dead-connection`: `event` of each connection, and
     *   `forGood` if only a new document can open another one
     * @returns {() => void} ends `hang-open`, `hang-transaction` or `full-disk`
     * @throws {TabacusError} `invalid-argument`
     */
    breakDatabase(tab, fault, options = {}) {
        checkTabOf(this, 'tab', tab);
        checkOneOf('fault', fault, databaseFaults);
        const { event, forGood } = checkOptions(options, ['event', 'forGood']);
        this.#trace(`${fault} of the databases of a tab`);
        if (!this.database) return () => {};
        if (event) closeConnections(this.database, tab.contexts);
        return breakDatabases(this.database, tab.contexts, fault, Boolean(forGood));
    }

    /**
     * Overwrites a record (a key of localStorage, or a row of a database) with nonsense, or with `value`.
     * @param {string | { key: any, value?: any, database?: string, store?: string }} record
     * @throws {TabacusError} `invalid-argument`
     */
    corrupt(record) {
        const { key, value, database, store } = checkRecord(record);
        if (database !== undefined && this.database) checkKey(this.database, key);
        const nonsense = value === undefined ? `\uD800{corrupt ${this.random.bits()}` : value;
        this.#trace(`${shorten(describe(key))} is corrupted`);
        if (database === undefined || store === undefined) {
            this.rules.calls.overwrite(`${key}`, nonsense === null ? undefined : `${nonsense}`);
            return;
        }
        const records = this.database?.shared._databases.get(database)?.rawObjectStores.get(store)?.records;
        const found = records?.get(key);
        if (found) found.value = nonsense;
    }

    /**
     * Sets the wall clock, which Date shows in every tab. Timers and `performance` are not affected.
     * @param {number | Date} now milliseconds since 1970
     * @throws {TabacusError} `invalid-argument`
     */
    setClock(now) {
        const now_ms = typeof now === 'number' || now instanceof Date ? Number(now) : NaN;
        if (!Number.isFinite(now_ms)) throw invalid('now', now, 'a number of milliseconds or a Date');
        this.rules.noteEverything();
        this.clock.set(now_ms);
    }

    /**
     * Sets the capacity of each storage.
     * @param {number | undefined} bytes keys and values together, in UTF-8; undefined for no limit
     */
    setQuota(bytes) {
        if (bytes !== undefined) checkInteger('bytes', bytes, 0, 2 ** 31 - 1);
        this.#trace(bytes === undefined ? 'storages have no limit' : `storages take ${bytes} bytes`);
        this.rules.calls.setQuota(bytes);
    }

    /**
     * Puts the completion of asynchronous work of the host on the schedule, as the emulator does for the calls that
     * docs/emulator.md lists: it becomes an event of the tab whose task runs, or of the first tab if none runs. When
     * the schedule chooses the event, the run waits for the result.
     *
     * @template Value
     * @param {Promise<Value> | Value} work begun already. Requires that it settles without further events of the
     *   origin
     * @returns {Promise<Value>} settles as `work` does, once the schedule chooses the event; stays pending if the tab
     *   ends before
     * @throws {TabacusError} `closed` if the origin is closed or has no open tab
     */
    track(work) {
        const context = this.current?.active ? this.current : this.tabs[0]?.context;
        if (!context) throw new TabacusError('closed', 'track(): no tab of the origin is open: open one');
        return tracked(context, work, 'origin.track()');
    }

    // --- Its schedule

    /**
     * The delivery of a result of the host for which the schedule waits.
     *
     * @type {Promise<void> | undefined}
     * @internal
     */
    delivery;

    /** Is called if the host does not complete work in time. The schedule goes on. @type {(what: string) => void} */
    onLate = () => {};

    /**
     * @param {Context} context
     * @param {string} what the work, for traces
     * @param {Promise<() => void>} outcome resolves, when the work is complete, to a function that settles its promise
     * @internal
     */
    awaitHost(context, what, outcome) {
        const peer = ++context.hostWorks;
        this.rules.trace(context.id, 'host', () => `begins ${what}`);
        this.queueTask(
            context,
            () => {
                const delivery = delivered(context, { what, outcome, peer });
                this.delivery = delivery;
                delivery.then(() => (this.delivery = undefined));
            },
            'host',
            peer,
        );
    }

    /** Schedules a task of the host in which the next event happens, if one may. */
    wake() {
        if (this.#pumping || this.#holds > 0 || this.#closed) return;
        this.#pumping = true;
        hostTask(this.#turn, this.#work > 0 || ++this.#turns % unyieldingMax === 0);
    }

    #turn = () => {
        this.#pumping = false;
        if (this.#holds > 0 || this.#closed) return;
        if (this.step(this.#waiting.length === 0)) this.wake();
        else if (this.#work === 0) this.#rest();
    };

    #rest() {
        const waiting = this.#waiting.splice(0);
        for (const resolve of waiting) resolve();
        if (waiting.length > 0) this.wake();
    }

    /**
     * Lets one event happen in a tab.
     *
     * @param {boolean} mayWait whether time may pass
     * @returns {boolean} false if no event can happen
     */
    step(mayWait) {
        this.rules.noteListeners(this.contexts.values());
        const timePasses = mayWait && this.clock.virtual && this.#work === 0;
        for (let taken = 0; taken < unseenMax; ++taken) {
            const kind = this.rules.step(timePasses);
            const eventKind = this.#eventKind;
            if (kind === eventKind.nothing) return false;
            ++this.happened;
            if (kind === eventKind.fault) {
                this.onFault(this.rules.number);
                return true;
            }
            if (kind !== eventKind.unseen) {
                this.#dispatch(kind);
                return true;
            }
        }
        return true;
    }

    /** Is called with the fault that the schedule chooses. @type {(number: number) => void} */
    onFault = () => {};

    /** @param {number} kind */
    #dispatch(kind) {
        const eventKind = this.#eventKind;
        const { number, contextId, from, area, endpoint } = this.rules;
        const context = this.contexts.get(contextId);
        if (kind === eventKind.task) {
            const task = context?.tasks.get(number);
            context?.tasks.delete(number);
            if (context?.alive && task) this.#begin(context, task);
            return;
        }
        const data = kind === eventKind.message ? this.broadcasts.take(number) : undefined;
        if (!context?.alive) return;
        context.beginTask();
        // The schedule goes on whatever a page does in the functions that are called here.
        context.guard(() => this.#handle(context, { kind, number, area, from, endpoint, data }));
    }

    /**
     * @param {Context} context
     * @param {{ kind: number, number: number, area: number, from: number, endpoint: number, data: unknown }} what
     */
    #handle(context, { kind, number, area, from, endpoint, data }) {
        const eventKind = this.#eventKind;
        switch (kind) {
            case eventKind.changed:
                return this.#changed(context, area, from);
            case eventKind.granted:
                return context.locks.granted(number);
            case eventKind.unavailable:
                return context.locks.unavailable(number);
            case eventKind.stolen:
                return context.locks.stolen(number);
            case eventKind.released:
                return context.locks.released(number);
            case eventKind.snapshot:
                return context.locks.snapshot(number, this.rules.calls.snapshot());
            case eventKind.message:
                return context.channels.get(endpoint)?.(data);
            default:
                return context.timers.due(number);
        }
    }

    /** @param {Context} context @param {() => void} task */
    #begin(context, task) {
        context.beginTask();
        context.guard(task);
    }

    /**
     * Fires a `storage` event (HTML §12.2.1, "broadcast").
     *
     * @param {Context} context
     * @param {number} area
     * @param {number} from
     */
    #changed(context, area, from) {
        if (context.opaque !== undefined) return;
        this.rules.noteStorageEvent(context);
        const change = this.rules.calls.change();
        const { key, oldValue, newValue } = context.tab.recordFormat?.changed(change) ?? change;
        const url = this.contexts.get(from)?.address.href ?? this.#addresses.get(from) ?? '';
        const storageArea = context.original(area === 0 ? 'localStorage' : 'sessionStorage');
        dispatched(
            context.window,
            trusted(context.original('StorageEvent'), 'storage', {
                key: key ?? null,
                oldValue: oldValue ?? null,
                newValue: newValue ?? null,
                url,
                storageArea,
            }),
        );
    }

    /**
     * @param {Context} context
     * @param {() => void} task
     * @param {import('./emulator.js').TaskSource} source
     * @param {number} peer @internal
     */
    queueTask(context, task, source, peer) {
        if (!context.alive) return;
        const number = ++this.#lastTask;
        context.tasks.set(number, task);
        this.rules.calls.postTask(context.id, source, peer, number);
        this.wake();
    }

    /** Whether a tab has opened or deleted a database. @internal */
    opensDatabases = false;

    /**
     * Begins work beside the schedule, during which time stands still.
     *
     * @returns {() => void} ends the work @internal
     */
    beginWork() {
        ++this.#work;
        this.rules.setBeside(true);
        let open = true;
        return () => {
            if (!open) return;
            open = false;
            --this.#work;
            this.rules.setBeside(this.#work > 0);
            this.wake();
        };
    }

    /** Whether any work beside the schedule is under way. */
    get working() {
        return this.#work > 0;
    }

    /** Stops the schedule until the returned function is called. @returns {() => void} */
    hold() {
        ++this.#holds;
        let open = true;
        return () => {
            if (!open) return;
            open = false;
            --this.#holds;
            this.wake();
        };
    }

    /** @returns {Promise<void>} resolves once no event can happen before time passes */
    settled() {
        if (this.#closed) return Promise.resolve();
        return new Promise((resolve) => {
            this.#waiting.push(resolve);
            this.wake();
        });
    }

    /** A hash of the run in hexadecimal, equal for equal runs. */
    get hash() {
        return this.rules.hash;
    }

    /** Is called with each error that no handler of a tab has handled. @type {(error: unknown) => void} */
    uncaught = (error) => {
        const { reportError } = /** @type {any} */ (globalThis);
        if (reportError) reportError(error);
        else
            hostTask(() => {
                throw error;
            });
    };

    /** @param {number} context @internal */
    clientId(context) {
        return (this.#clientIds[context] ??= new SeededRandom(this.seed, -context).uuid());
    }

    get closed() {
        return this.#closed;
    }

    /** Kills all tabs, and ends the schedule. */
    close() {
        if (this.#closed) return;
        for (const tab of [...this.tabs]) tab.kill();
        this.#closed = true;
        this.#rest();
        this.rules.delete();
    }

    [dispose]() {
        this.close();
    }

    /** @param {unknown} object */
    static isStorage(object) {
        return isStorage(object);
    }
}
