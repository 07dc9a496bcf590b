/**
 * Rejected promises that no code handles. The host reports them when it goes on to its next task, and does not say
 * whose they are:
 *
 * - In a run whose promises a {@link HostWatch} knows, a rejection belongs to the context whose code made the promise.
 * - In another run, a rejection is a suspicion: it may also be another run's, or one of the host's own code. The run
 *   is repeated with a watch.
 * - In a browser, whose promises no watch knows, it belongs to the run that stepped last.
 */

import { originalFunction } from '../common/host-timers.js';
import { trusted } from '../../platform/events.js';
import { dispatched } from '../dom/event-target.js';
import { describeError } from '../common/describe.js';
import { takeNotices } from './host-rejections.web.js';
import { seesHost } from './host-watch.web.js';

/** @typedef {import('../context.js').Context} Context */

/**
 * A receiver of the host's notices. Each function returns whether the notice was for it.
 *
 * @typedef {object} Notices
 * @property {(promise: object, reason: unknown) => boolean} rejected
 * @property {(promise: object) => boolean} handled
 */

/** A rejection of which nobody knows whose it is. @typedef {{ reason: unknown, suspects: number }} Suspicion */

/** The run that made a promise, and its context. @typedef {{ rejections: Rejections, context: Context | undefined }} Owner */

/** @type {WeakMap<object, Owner>} */
const owners = new WeakMap();

/** The promises that are suspicions. @type {WeakMap<object, Suspicion>} */
const suspicions = new WeakMap();

/** The suspicions that were given back to the host. @type {WeakSet<object>} */
const cleared = new WeakSet();

/** The run that stepped last. @type {Rejections | undefined} */
let latest;

/** The runs under way. @type {Set<Rejections>} */
const underWay = new Set();

/** @type {Notices} */
const notices = {
    rejected(promise, reason) {
        if (cleared.has(promise)) return false;
        const owner = owners.get(promise) ?? (seesHost ? undefined : latest?.owning(promise));
        if (owner) {
            owner.rejections.add(promise, reason, owner.context);
            return true;
        }
        const suspects = [...underWay].filter(({ suspects }) => suspects);
        if (suspects.length === 0) return false;
        const suspicion = { reason, suspects: suspects.length };
        suspicions.set(promise, suspicion);
        for (const run of suspects) run.suspicions.push(suspicion);
        return true;
    },
    handled(promise) {
        const owner = owners.get(promise);
        owner?.rejections.remove(promise);
        return owner !== undefined || suspicions.has(promise);
    },
};

let endNotices = () => {};

/** How long rejections of a run that has ended are taken, if the host still works for it, in milliseconds of real time. */
const busyMax_ms = 1000;

/** The rejections of one run. */
export class Rejections {
    /** Suspicions, if no watch knows the promises of the run. @type {Suspicion[]} */
    suspicions = [];
    /** What code of the run has rejected, and nothing has handled at once. @type {Set<string>} */
    seen = new Set();
    #ended = false;
    /** @type {Map<object, { reason: unknown, context: Context | undefined, prevented: boolean }>} */
    #unhandled = new Map();

    /**
     * @param {boolean} suspects whether a rejection of unknown origin may be one of this run
     * @param {import('../origin.js').Origin} origin
     */
    constructor(suspects, origin) {
        this.suspects = suspects;
        this.origin = origin;
        if (underWay.size === 0) endNotices = takeNotices(notices);
        underWay.add(this);
    }

    /** Notes that a run makes a step. @param {Rejections} rejections its own */
    static step(rejections) {
        latest = rejections;
    }

    /**
     * Notes that code of the current context has made a promise.
     *
     * @param {object} promise
     * @returns {Owner}
     */
    owning(promise) {
        const owner = { rejections: this, context: this.origin.current };
        owners.set(promise, owner);
        return owner;
    }

    /** @param {object} promise @param {unknown} reason @param {Context | undefined} context */
    add(promise, reason, context) {
        this.seen.add(describeError(reason));
        if (this.#ended || context?.active === false) return;
        const prevented = context !== undefined && !fired(context, 'unhandledrejection', { promise, reason });
        this.#unhandled.set(promise, { reason, context, prevented });
    }

    /** Notes that a rejection is handled after it was reported. @param {object} promise */
    remove(promise) {
        const found = this.#unhandled.get(promise);
        this.#unhandled.delete(promise);
        const { context, reason } = found ?? {};
        if (context?.active) fired(context, 'rejectionhandled', { promise, reason });
    }

    /** The failure: the first rejection that is unhandled in a context that is open; else an empty text. */
    get failure() {
        for (const { reason, context, prevented } of this.#unhandled.values()) {
            if (!prevented && context?.active !== false)
                return `uncaught (in promise): ${describeError(reason)}`;
        }
        return '';
    }

    /**
     * Ends the run. Its rejections count no longer.
     *
     * @param {boolean} busy whether the host still works for it: what that rejects is no concern of the host's listeners
     */
    end(busy) {
        this.#ended = true;
        this.suspects = false;
        if (latest === this) latest = undefined;
        const later = busy && originalFunction('setTimeout');
        if (later) later(() => this.#leave(), busyMax_ms).unref?.();
        else this.#leave();
    }

    #leave() {
        underWay.delete(this);
        if (underWay.size === 0) endNotices();
    }
}

/**
 * Fires a PromiseRejectionEvent at the global object of a context (HTML §8.1.4.7).
 *
 * @param {Context} context
 * @param {string} type
 * @param {{ promise: object, reason: unknown }} members
 * @returns {boolean} false if it was cancelled
 */
function fired(context, type, members) {
    const cancelable = type === 'unhandledrejection';
    const event = trusted(context.original('PromiseRejectionEvent'), type, { ...members, cancelable });
    context.beginTask();
    return dispatched(context.window, event);
}

/**
 * Settles the suspicions of a run by the rejections of its repetition. One that the repetition has, too, is the run's
 * own. The others go back to the host, as soon as no run is left that may have caused them.
 *
 * @param {readonly Suspicion[]} suspicions
 * @param {Rejections} repeated those of the repetition
 */
export function settle(suspicions, repeated) {
    for (const suspicion of suspicions) {
        if (repeated.seen.has(describeError(suspicion.reason))) suspicion.suspects = Infinity;
        else if (--suspicion.suspects === 0) cleared.add(Promise.reject(suspicion.reason));
    }
}
