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
 * @property {boolean} [crossOriginIsolated]
 * @property {string} [origin]
 * @property {{ readonly protocol: string }} [location]
 */

/** @typedef {import('../core/bridge.js').Report} Report */

export class Host {
    /** @type {Report | undefined} */
    #core;

    /** @type {Platform} */
    #platform;

    /**
     * Reports from before the core was there.
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

    /** @param {Report} core receives the reports from here on; all that it throws is a defect of ours */
    connect(core) {
        this.#core = core;
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

    /** Lets everything go. Nothing is reported to the core any more. */
    dispose() {
        this.#core = undefined;
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
        const core = this.#core;
        if (!core) {
            if (event.startsWith('database')) this.#early.push(() => this.#report(event, number, texts));
            return;
        }
        try {
            core(event, number, texts);
        } catch (error) {
            // Not into the event handler that the report was made from.
            reportTo(this.#platform, error);
        }
    }
}
