/**
 * How long explorations wait for the host. Its work is not on the schedule unless the emulator tracks it. If a scenario
 * uses such work all the same, the run waits for it before its next step, and is inconclusive if it does not come.
 */

import { hostNow, hostTimeout } from '../common/host-timers.js';
import { seesHost } from './host-watch.web.js';

/** @typedef {import('./host-watch.web.js').HostWatch} HostWatch */

/**
 * The longest time that a run waits for the host, in milliseconds of real time: what a scenario may await (a file, a
 * timer, a module) takes less on a busy machine, and a test's time-out is rarely shorter.
 */
export const hostWaitMax_ms = 5000;

/** The shortest time, after many runs have waited in vain. */
const hostWaitMin_ms = 20;

/**
 * How long the first run that stands still waits for work that no watch sees, because it was begun before the
 * exploration or has no asynchronous resource (WebAssembly), in milliseconds of real time.
 */
const unseenMax_ms = 500;

/** The time between two looks at the host, in milliseconds. */
const look_ms = 1;

/** What one exploration knows about the host's work in its runs, and how long it waits for it. */
export class HostWaits {
    /** Whether runs are watched. */
    watches = !seesHost;
    /** Whether the host has worked for a run outside of the schedule. */
    #hosted = false;
    /** How long a run waits for work that its watch sees, in milliseconds of real time. */
    left_ms = hostWaitMax_ms;
    /** How long a run that stands still waits for work that no watch sees, in milliseconds of real time. */
    unseen_ms = unseenMax_ms;

    get hosted() {
        return this.#hosted;
    }

    /** Notes that the host works for a run outside of the schedule. Runs are watched from then on. */
    noteHosted() {
        this.#hosted = true;
        this.watches = true;
    }

    /**
     * Waits until the host has completed what it does for the run.
     *
     * @param {HostWatch} watch
     * @param {AbortSignal | undefined} signal
     * @returns {Promise<string>} resolves to what was not complete in time, or to an empty text
     */
    async await(watch, signal) {
        this.noteHosted();
        const max_ms = this.left_ms;
        if (watch.pending_ms > max_ms) return watch.pending ?? '';
        for (let waited_ms = 0; waited_ms < max_ms; waited_ms += await this.pause(watch)) {
            if (watch.pending === undefined || signal?.aborted) return '';
        }
        this.spend(watch.pending);
        return watch.pending ?? '';
    }

    /**
     * Notes that a run has waited in vain. Later runs wait for a shorter time, so that an exploration of many seeds ends.
     *
     * @param {string | undefined} pending what it waited for, if a watch saw that
     */
    spend(pending) {
        if (pending === undefined) this.unseen_ms = 0;
        if (pending !== undefined || !seesHost) this.left_ms = Math.max(this.left_ms / 2, hostWaitMin_ms);
    }

    /**
     * Lets the host work for a moment.
     *
     * @param {HostWatch} watch
     * @returns {Promise<number>} resolves to how long that took, in milliseconds of real time
     */
    async pause(watch) {
        const begin_ms = hostNow();
        await new Promise((resolve) => watch.outside(() => hostTimeout(() => resolve(undefined), look_ms)));
        return Math.max(hostNow() - begin_ms, look_ms);
    }
}
