/**
 * Asynchronous work that the host does for a tab, such as a hash or the compilation of a module. Its completion is an
 * event of the schedule. When the schedule chooses the event, the run waits for the result of the host and delivers
 * it, so that the order of events does not depend on how fast the host is.
 */

import { awaitQuiescence } from '../database/quiescence.js';
import { withTimeLimit } from './time-limit.js';

/** @typedef {import('../context.js').Context} Context */

/** The key of the property by which a global object tracks work, for this package in a tab. */
export const trackKey = Symbol.for('tabacus.track');

/**
 * How long a run waits for one result of the host, in milliseconds of real time. The generation of an RSA key of 4,096
 * bits takes up to 10 s on a busy machine.
 */
export const hostWorkMax_ms = 30_000;

/**
 * Puts the completion of work on the schedule of the context's origin.
 *
 * @template Value
 * @param {Context} context
 * @param {Promise<Value> | Value} work begun already. Requires that it settles without further events of the origin
 * @param {string} what the call, for traces, such as `crypto.subtle.digest()`
 * @returns {Promise<Value>} settles as `work` does, once the schedule chooses its event; stays pending if the context
 *   ends before
 */
export function tracked(context, work, what) {
    return new Promise((resolve, reject) => {
        const outcome = Promise.resolve(work).then(
            (value) => () => resolve(value),
            (reason) => () => reject(reason),
        );
        if (context.active) context.origin.awaitHost(context, what, outcome);
    });
}

/** Whether the host works for a context of the origin. @param {import('../origin.js').Origin} origin */
export const awaitsHost = ({ contexts }) =>
    [...contexts.values()].some(({ hostWorks, hostWorksDone }) => hostWorks > hostWorksDone);

/**
 * Waits for a result of the host and delivers it, while no event happens.
 *
 * @param {Context} context
 * @param {{ what: string, outcome: Promise<() => void>, peer: number }} work `outcome`: resolves to a function that
 *   settles the promise of the work; `peer`: the number of the work in its context
 * @returns {Promise<void>} never rejects
 */
export async function delivered(context, { what, outcome, peer }) {
    const { origin } = context;
    const release = origin.hold();
    const settle = await withTimeLimit(outcome, hostWorkMax_ms);
    ++context.hostWorksDone;
    if (origin.database?.steps) await awaitQuiescence(origin.database);
    const deliver = (/** @type {() => void} */ call) => {
        if (!context.active) return;
        const task = () => {
            const story = what.endsWith(')') ? {} : { story: `receives ${what}` };
            origin.rules.trace(context.id, 'host', () => `${what} completes`, story);
            context.beginTask();
            call();
        };
        if (context.tab.stopped) context.queueTask(task, 'host', peer);
        else task();
    };
    if (settle) deliver(settle);
    else {
        origin.onLate(what);
        outcome.then((late) => context.queueTask(() => deliver(late), 'host', peer));
    }
    release();
}
