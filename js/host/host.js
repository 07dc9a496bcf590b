/**
 * The host adapts the platform to the calls of the C++ World (wasm/src/browser). It decides nothing. Each
 * part of the platform has a file of its own. The host uses only the `window` that it gets, so that a
 * simulated window can replace the real one. A part that the window lacks, or that throws when it is used, is
 * treated as absent.
 */

import { ChannelsHost } from './broadcast-channels.js';
import { ClockHost } from './clock.js';
import { DatabaseHost } from './database.js';
import { TabacusError } from '../common/errors.js';
import { defaultTimeouts } from '../common/timeouts.js';
import { reportTo } from './failure.js';
import { LifecycleHost } from './lifecycle.js';
import { LocksHost } from './web-locks.js';
import { StorageHost } from './local-storage.js';
import { Values } from './values.js';

/**
 * The parts of the platform that a tab uses: those of `globalThis`, or of an object of the same shape. Each
 * part is optional.
 *
 * @typedef {object} Platform
 * @property {IDBFactory} [indexedDB]
 * @property {typeof IDBKeyRange} [IDBKeyRange]
 * @property {import('./storage-like.js').StorageLike} [localStorage]
 * @property {{ readonly locks?: LockManager, readonly storage?: import('./persistence.js').PersistentStorage, readonly userAgent?: string }} [navigator]
 * @property {typeof BroadcastChannel} [BroadcastChannel]
 * @property {Crypto} [crypto]
 * @property {EventTarget & { readonly visibilityState: string, readonly wasDiscarded?: boolean, readonly prerendering?: boolean }} [document]
 * @property {{ now(): number }} [Date]
 * @property {{ now(): number, timeOrigin?: number }} [performance]
 * @property {(callback: () => void, delay: number) => any} [setTimeout]
 * @property {(timer: any) => void} [clearTimeout]
 * @property {(type: string, listener: (event: any) => void, capture?: boolean) => void} [addEventListener]
 * @property {(type: string, listener: (event: any) => void, capture?: boolean) => void} [removeEventListener]
 * @property {(error: unknown) => void} [reportError]
 * @property {string} [origin]
 * @property {{ readonly protocol: string }} [location]
 */

/** @typedef {import('../core/generated/host-events.js').HostEvents} HostEvents */

export class Host {
    /** The program that gets the reports, once it is started. @type {HostEvents | undefined} */
    #program;

    /** @type {Platform} */
    platform;

    #disposed = false;

    /**
     * What the browser has answered to the option `persist` of open().
     * @type {Pick<import('../tab/capabilities.js').Capabilities, 'persisted' | 'estimate'>}
     */
    persistence = {};

    /** Reports a problem that no call has caused. @type {(code: string, message: string, subject: string) => void} */
    #warning;

    /** Reports that what `capabilities` is made of has changed. @type {() => void} */
    #capabilitiesChange;

    /**
     * Reports that were made before the program was started.
     * @type {(() => void)[]}
     */
    #early = [];

    /**
     * @param {Platform} platform
     * @param {string} namespace
     * @param {import('../common/timeouts.js').Timeouts} [timeouts] those that are not given have their defaults
     */
    constructor(platform, namespace, timeouts) {
        this.platform = platform;
        /** How long calls wait for a browser that does not answer, in milliseconds. */
        this.timeouts = { ...defaultTimeouts, ...timeouts };
        this.#warning = (...warning) => this.#early.push(() => this.#warning(...warning));
        this.#capabilitiesChange = () => {};
        const report = this.#events();
        this.report = report;
        this.clock = new ClockHost(platform, report);
        this.values = new Values();
        this.database = new DatabaseHost(platform, namespace, this, report);
        // Opening takes milliseconds, mostly in another process than the page's: so it begins first.
        if (this.database.available) void this.database.ready();
        this.lifecycle = new LifecycleHost(platform, report, () => {
            this.database.returned();
            this.locks.returned();
        });
        this.storage = new StorageHost(platform, report);
        this.locks = new LocksHost(platform, this.lifecycle, report);
        this.channels = new ChannelsHost(platform, this.clock, this.lifecycle, report);
    }

    /**
     * Registers the callbacks for warnings and for changes of what `capabilities` is made of.
     *
     * @param {(code: string, message: string, subject: string) => void} warning
     * @param {() => void} capabilitiesChange
     */
    listen(warning, capabilitiesChange) {
        this.#warning = warning;
        this.#capabilitiesChange = capabilitiesChange;
    }

    /**
     * Warns of a problem that no call has caused.
     *
     * @param {string} code
     * @param {string} message
     * @param {string} subject
     */
    warn(code, message, subject) {
        this.#warning(code, message, subject);
    }

    /** Reports that `database.opening`, `database.usable` or `persistence` has changed. */
    capabilitiesChanged() {
        this.#capabilitiesChange();
    }

    /**
     * Sends all reports to the program: the earlier ones first.
     *
     * @param {HostEvents} program if it throws, that is a defect of tabacus
     * @throws {TabacusError} `closed`
     */
    connect(program) {
        if (this.#disposed) throw new TabacusError('closed', 'the tab was closed before this was loaded');
        this.#program = program;
        for (const call of this.#early.splice(0)) call();
    }

    /**
     * Finds out whether the browser has Web Locks, but refuses every request. It may do so where the database does not
     * open. If it refuses both, the user blocks site data.
     *
     * @returns {Promise<void>} resolves when that is known
     */
    async probe() {
        if (this.database.opened || this.lifecycle.prerendering) return;
        if (await this.locks.refuses()) this.database.refused = true;
    }

    /** Reports an exception that a callback of ours has thrown. @param {unknown} error */
    reportError(error) {
        reportTo(this.platform, error);
    }

    /** Closes and releases everything. No report is made after this. */
    dispose() {
        this.#disposed = true;
        this.#program = undefined;
        this.#early = [];
        for (const part of [
            this.clock,
            this.storage,
            this.database,
            this.locks,
            this.channels,
            this.lifecycle,
        ]) {
            part.dispose();
        }
    }

    /** Makes the object to which the parts of the host report. @returns {HostEvents} */
    #events() {
        return {
            settled: (operation, answer) => {
                // This does what #reporting() does, but faster: thousands of operations may settle at once.
                try {
                    this.#program?.settled(operation, answer);
                } catch (error) {
                    this.reportError(error);
                }
            },
            failed: (operation, code, message) =>
                this.#reporting((program) => program.failed(operation, code, message)),
            lockLost: (request) => this.#reporting((program) => program.lockLost(request)),
            message: (channel, message) => this.#reporting((program) => program.message(channel, message)),
            storageChanged: (...change) => this.#reporting((program) => program.storageChanged(...change)),
            databaseCreated: (dataLoss) => this.#keepingEarly((program) => program.databaseCreated(dataLoss)),
            databaseClosed: () => this.#keepingEarly((program) => program.databaseClosed()),
            lifecycle: (event) =>
                this.database.keepOpenDuring(() => this.#reporting((program) => program.lifecycle(event))),
        };
    }

    /**
     * Makes a report, or keeps it until the program is started.
     *
     * @param {(program: HostEvents) => void} report
     */
    #keepingEarly(report) {
        if (this.#program) this.#reporting(report);
        else this.#early.push(() => this.#reporting(report));
    }

    /** Makes a report, unless there is no program. @param {(program: HostEvents) => void} report */
    #reporting(report) {
        if (!this.#program) return;
        try {
            report(this.#program);
        } catch (error) {
            // The error must not reach the platform's event that led to the report.
            this.reportError(error);
        }
    }
}
