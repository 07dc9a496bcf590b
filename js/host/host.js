/**
 * The host: the platform as the C++ World asks for it (wasm/src/browser), one file for each of its
 * parts. It adapts and decides nothing. Everything comes from the `window` that it is given, so that a
 * simulated one can replace a real one; what it lacks, or refuses with an exception, is
 * treated as absent.
 */

import { ChannelsHost } from './broadcast-channels.js';
import { ClockHost } from './clock.js';
import { DatabaseHost } from './database.js';
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

/** @typedef {import('../core/bridge.js').Report} Report */

/** The events that are about something of one program's. @type {Set<Parameters<Report>[0]>} */
const numbered = new Set(['settled', 'failed', 'lockLost', 'message']);

export class Host {
    /** The programs that it serves: the counters, and what coordinates tabs. @type {(Report | undefined)[]} */
    #programs = [];

    /** @type {Platform} */
    #platform;

    /**
     * Reports from before the first program was there.
     * @type {(() => void)[]}
     */
    #early = [];

    /**
     * @param {Platform} platform
     * @param {string} namespace
     */
    constructor(platform, namespace) {
        this.#platform = platform;
        /** @type {Report} */
        this.report = (event, number, texts) => this.#report(event, number, texts);
        const { report } = this;
        this.clock = new ClockHost(platform, report);
        this.storage = new StorageHost(platform, report);
        this.values = new Values();
        this.lifecycle = new LifecycleHost(platform, report, () => {
            this.database.returned();
            this.locks.returned();
        });
        this.database = new DatabaseHost(platform, namespace, this, report);
        this.locks = new LocksHost(platform, this.lifecycle, report);
        this.channels = new ChannelsHost(platform, this.clock, this.lifecycle, report);
    }

    /**
     * @param {Report} program receives the reports from here on; all that it throws is a defect of ours
     * @param {number} index the lowest bit of the numbers of its operations, channels and locks
     */
    connect(program, index) {
        this.#programs[index] = program;
        for (const call of this.#early.splice(0)) call();
    }

    /** @returns {Promise<void>} when the database is open, or refused to, and it is known whether there are locks */
    async ready() {
        await this.database.ready();
        await this.probe();
        if (this.database.refused) this.database.available = false;
    }

    /** What keeps a page from its databases may keep it from locks. @returns {Promise<void>} when it is known */
    async probe() {
        if (this.database.refused || !this.database.available) await this.locks.probe();
    }

    /** Lets everything go. Nothing is reported any more. */
    dispose() {
        this.#programs = [];
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

    /** @type {Report} */
    #report(event, number, texts) {
        if (this.#programs.length === 0) {
            if (event.startsWith('database')) this.#early.push(() => this.#report(event, number, texts));
            return;
        }
        if (numbered.has(event)) this.#reportTo(this.#programs[number & 1], event, number, texts);
        else
            this.database.keepOpenDuring(() => {
                for (const program of this.#programs) this.#reportTo(program, event, number, texts);
            });
    }

    /**
     * @param {Report | undefined} program
     * @param {Parameters<Report>} report
     */
    #reportTo(program, ...report) {
        try {
            program?.(...report);
        } catch (error) {
            // Not into the event handler that the report was made from.
            reportTo(this.#platform, error);
        }
    }
}
