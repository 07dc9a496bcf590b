/** The bridge to the program of all that a tab has beside its replicated counters. */

import { Bridge } from './bridge.js';
import { callCoordination } from './generated/coordination-calls.js';

/** Calls those who use the program, each by the number under which the program knows it. */
export class CoordinationBridge extends Bridge {
    /** Held locks that were lost. @type {Map<number, (reason: string) => void>} */
    lost = new Map();

    /** Watches of locks that were taken or let go. @type {Map<number, () => void>} */
    unlocked = new Map();

    /** Queues. @type {Map<number, (what: number, first: string, second: string) => void>} */
    queues = new Map();

    /**
     * @override
     * @param {import('./load-module.js').HostCallArguments} call
     */
    callFurther(...call) {
        return callCoordination(this, ...call);
    }

    /**
     * @param {number} held
     * @param {string} reason
     */
    lockLost(held, reason) {
        this.lost.get(held)?.(reason);
    }

    /** @param {number} watch */
    lockChanged(watch) {
        this.unlocked.get(watch)?.();
    }

    /**
     * @param {number} queue
     * @param {number} what
     * @param {string} first
     * @param {string} second
     */
    queueCallback(queue, what, first, second) {
        this.queues.get(queue)?.(what, first, second);
    }
}
