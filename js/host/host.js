/**
 * The host: the platform as the C++ World asks for it (wasm/src/browser), one file for each of its
 * parts. It adapts and decides nothing. Everything comes from the `window` that it is given, so that a
 * simulated one can replace a real one; what it lacks, or refuses with an exception, is
 * treated as absent.
 */

import { ChannelsHost } from './broadcast-channels.js';
import { ClockHost } from './clock.js';
import { DatabaseHost } from './database.js';
import { TabacusError } from '../common/errors.js';
import { reportTo } from './failure.js';
import { LifecycleHost } from './lifecycle.js';
import { LocksHost } from './web-locks.js';
import { StorageHost } from './local-storage.js';
import { Values } from './values.js';

/**
 * What a tab takes from its platform: `globalThis`, or an object of the same shape. Every part is
 * optional.
 *
 * @typedef {object} Platform
 * @property {IDBFactory} [indexedDB]
 * @property {typeof IDBKeyRange} [IDBKeyRange]
 * @property {import('./storage-like.js').StorageLike} [localStorage]
 * @property {{ readonly locks?: LockManager, readonly userAgent?: string }} [navigator]
 * @property {typeof BroadcastChannel} [BroadcastChannel]
 * @property {Crypto} [crypto]
 * @property {EventTarget & { readonly visibilityState: string, readonly wasDiscarded?: boolean }} [document]
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
    /** The program that it serves. @type {HostEvents | undefined} */
    #program;

    /** @type {Platform} */
    #platform;

    #disposed = false;

    /**
     * Reports from before the program was there.
     * @type {(() => void)[]}
     */
    #early = [];

    /**
     * @param {Platform} platform
     * @param {string} namespace
     */
    constructor(platform, namespace) {
        this.#platform = platform;
        const report = this.#events();
        this.report = report;
        this.clock = new ClockHost(platform, report);
        this.values = new Values();
        this.database = new DatabaseHost(platform, namespace, this, report);
        // It takes milliseconds, and the page's own process may not be needed for them: so it is asked for first.
        if (this.database.available) void this.database.ready();
        this.lifecycle = new LifecycleHost(platform, report, () => {
            this.database.returned();
            this.locks.returned();
        });
        this.storage = new StorageHost(platform, report);
        this.locks = new LocksHost(platform, this.lifecycle, report);
        this.channels = new ChannelsHost(platform, this.clock, this.lifecycle, report);
    }

    /** @param {HostEvents} program receives the reports from here on; all that it throws is a defect of ours */
    connect(program) {
        if (this.#disposed) throw new TabacusError('closed', 'the tab was closed before this was loaded');
        this.#program = program;
        for (const call of this.#early.splice(0)) call();
    }

    /** What keeps a page from its databases may keep it from locks. @returns {Promise<void>} when it is known */
    async probe() {
        if (this.database.refused || !this.database.available) await this.locks.probe();
    }

    /** Reports an exception that a callback of ours has thrown. @param {unknown} error */
    reportError(error) {
        reportTo(this.#platform, error);
    }

    /** Lets everything go. Nothing is reported any more. */
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

    /** What its parts report to. @returns {HostEvents} */
    #events() {
        return {
            settled: (operation, answer) => {
                // As #reporting(), of what is reported by the thousand.
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

    /** Reports it, or keeps it for the program. @param {(program: HostEvents) => void} report */
    #keepingEarly(report) {
        if (this.#program) this.#reporting(report);
        else this.#early.push(() => this.#reporting(report));
    }

    /** @param {(program: HostEvents) => void} report */
    #reporting(report) {
        if (!this.#program) return;
        try {
            report(this.#program);
        } catch (error) {
            // Not into the event handler that the report was made from.
            this.reportError(error);
        }
    }
}
