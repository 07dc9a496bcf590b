/**
 * Puts the requests, connections and transactions of fake-indexeddb on a tab's schedule, so that they stop when the tab
 * does.
 */

import { hostTask } from '../common/host-task.js';
import { beginTransactionWork, setHeld } from './transaction-work.js';
import { outsideOfFakeIndexedDB, wrapTransaction } from './fake-indexeddb-tasks.js';

/** @typedef {import('../context.js').Context} Context */

/** @template T @param {Map<Context, Set<T>>} map @param {Context} context */
export function setOf(map, context) {
    const set = map.get(context) ?? new Set();
    map.set(context, set);
    return set;
}

/** Begins work beside the schedule that can be paused. @param {import('../origin.js').Origin} origin */
export function workOf(origin) {
    let stop = origin.beginWork();
    const go = () => {
        stop();
        stop = origin.beginWork();
    };
    return { stop: () => stop(), go };
}

/** @typedef {ReturnType<typeof workOf>} Work */

/** Counts a step of the databases. @param {Context} context */
export function countStep({ origin: { database } }) {
    if (database) ++database.steps;
}

/**
 * Makes a dispatchEvent() for a target of the context. It reports what handlers throw (DOM §2.10) and rethrows it, so
 * that the transaction aborts. No handler of a closed context runs.
 *
 * @param {Context} context
 * @param {any} target
 * @returns {(event: any) => boolean}
 */
export function reportingDispatch(context, target) {
    const dispatch = target.dispatchEvent.bind(target);
    return (event) => {
        countStep(context);
        if (!context.alive) return true;
        const { database } = context.origin;
        const events = setOf(/** @type {import('./indexed-db.js').Databases} */ (database).events, context);
        events.add(event);
        try {
            return outsideOfFakeIndexedDB(() => dispatch(event));
        } catch (error) {
            const errors = error instanceof AggregateError ? error.errors : [error];
            errors.forEach((one) => context.report(one));
            throw error;
        } finally {
            events.delete(event);
        }
    };
}

/**
 * Dispatches an event for which no transaction waits. A closed context does not receive it. A frozen or cached context
 * receives it later, on the schedule.
 *
 * @param {Context} context
 * @param {() => unknown} dispatch
 */
export function notify(context, dispatch) {
    const task = () => {
        context.beginTask();
        try {
            dispatch();
        } catch {
            // The dispatch has reported it.
        }
    };
    if (!context.alive) return true;
    if (context.tab.stopped) context.queueTask(task, 'database');
    else task();
    return true;
}

/**
 * Lets the work go on that waits for the end of a transaction, no matter what its handlers do.
 *
 * @param {any} transaction
 * @param {string} type
 */
function unblock(transaction, type) {
    const own = transaction._prioritizedListeners.get(type);
    transaction._prioritizedListeners.clear();
    own?.();
    transaction.db._rawDatabase.processTransactions();
}

/** @param {Context} context @param {any} transaction */
function bindDispatch(context, transaction) {
    const dispatch = reportingDispatch(context, transaction);
    transaction.dispatchEvent = (/** @type {any} */ event) => {
        if (context.tab.stopped) unblock(transaction, event.type);
        return notify(context, () => dispatch(event));
    };
    const requests = new WeakSet();
    const execute = transaction._execRequestAsync.bind(transaction);
    transaction._execRequestAsync = (/** @type {any} */ asked) => {
        const request = execute(asked);
        if (requests.has(request)) return request; // the request of a cursor
        requests.add(request);
        const dispatchRequest = reportingDispatch(context, request);
        request.dispatchEvent = (/** @type {any} */ event) =>
            context.tab.stopped ? notify(context, () => dispatchRequest(event)) : dispatchRequest(event);
        return request;
    };
}

/** Traces the end of a transaction. @param {Context} context @param {any} transaction @param {() => void} done */
function watchEnd(context, transaction, done) {
    const { database, rules } = context.origin;
    const open = setOf(/** @type {import('./indexed-db.js').Databases} */ (database).transactions, context);
    const finish = transaction._markFinished.bind(transaction);
    const abort = transaction._abort.bind(transaction);
    let aborts = false;
    transaction._abort = (/** @type {string | null} */ error) => {
        aborts = true;
        abort(error);
    };
    const line = rules.sourceLine();
    open.add(transaction);
    transaction._markFinished = () => {
        open.delete(transaction);
        // fake-indexeddb fires the abort event in a later task. Time stands still until then.
        if (aborts) hostTask(done, true);
        else done();
        const names = [...transaction._scope].join(', ');
        rules.trace(
            context.id,
            'transaction',
            () => `${transaction.error ? 'aborts' : 'ends'} a transaction over ${names}`,
            { line },
        );
        finish();
    };
}

/**
 * Makes each step of a transaction a task of the context.
 *
 * @param {Context} context
 * @param {any} transaction
 * @param {import('./troubles.js').DatabaseTrouble} trouble
 */
export function scheduled(context, transaction, trouble) {
    wrapTransaction(transaction);
    const start = transaction._start.bind(transaction);
    const step = () => {
        if (trouble.isDead(transaction.db)) transaction._abort('UnknownError');
        else if (trouble.refusesCommit(transaction)) transaction._abort('QuotaExceededError');
        else start();
    };
    const done = beginTransactionWork(transaction, () => context.origin.beginWork());
    const next = () => {
        countStep(context);
        context.queueTask(step, 'database');
    };
    const answered = () => {
        if (transaction._state === 'finished') return;
        setHeld(transaction, false);
        next();
    };
    transaction._start = () => {
        transaction._started = true; // otherwise it would be started again before its task runs
        if (trouble.holds('hang-transaction', answered)) setHeld(transaction, true);
        else next();
    };
    bindDispatch(context, transaction);
    watchEnd(context, transaction, done);
    return transaction;
}

/**
 * Functions that are called when the context of an upgrade is killed: the work goes on until the upgrade is undone.
 *
 * @type {WeakMap<object, () => void>}
 */
const dying = new WeakMap();

/**
 * Lets an upgrade go on beside the schedule, except while its tab is frozen or cached.
 *
 * @param {Context} context
 * @param {any} transaction
 * @param {{ work: Work, dispatch: () => unknown }} upgrade `dispatch`: fires its event
 */
export function upgrading(context, transaction, { work, dispatch }) {
    wrapTransaction(transaction);
    const step = transaction._start.bind(transaction);
    let waits = context.tab.stopped;
    bindDispatch(context, transaction);
    watchEnd(context, transaction, () => {});
    dying.set(transaction, work.go);
    /** @param {() => void} task */
    const later = (task) => {
        work.stop();
        context.queueTask(() => {
            work.go();
            task();
        }, 'database');
    };
    transaction._start = () => {
        countStep(context);
        if (!waits && !context.tab.stopped) return step();
        transaction._started = true;
        return later(() => {
            waits = false;
            if (transaction._state === 'active') transaction._state = 'inactive';
            step();
        });
    };
    if (!context.alive) return abandon(transaction);
    if (!waits) return dispatch();
    return later(() => {
        transaction._state = 'active';
        try {
            dispatch();
        } catch {
            if (transaction._state === 'active') transaction._abort('AbortError');
        }
    });
}

/**
 * Ends a transaction of a killed context: none of its handlers runs, and it has no effect.
 *
 * @param {any} transaction
 */
export function abandon(transaction) {
    transaction.dispatchEvent = (/** @type {any} */ { type }) => {
        unblock(transaction, type);
        return true;
    };
    dying.get(transaction)?.();
    transaction._abort(null);
    transaction.db._rawDatabase.processTransactions();
}
