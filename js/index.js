/**
 * `tabacus`: counters, locks and queues over browser tabs and threads, which stay correct when tabs crash.
 *
 * @example
 * import { open } from 'tabacus';
 * const tab = await open({ namespace: 'shop' });
 * tab.counter('visits').add(1);
 */

import { imported } from './common/import-failure.js';

export { open } from './tab/open.js';
export { TabacusEvent } from './tab/tabacus-event.js';
export { DeadlockError, TabacusError, TabacusRangeError } from './common/errors.js';

/**
 * `threads()` of 'tabacus/threads'. It is loaded when it is called, so that a page that only counts over tabs
 * does not load it.
 *
 * @type {typeof import('./threads.js').threads}
 */
export const threads = async (options) => {
    // threads.js imports worker.js. Both are named here, so that their fetches begin at the same time.
    const [module] = await imported(Promise.all([import('./threads.js'), import('./worker.js')]));
    return module.threads(options);
};

/**
 * `attach()` of 'tabacus/worker'. It is loaded when it is called.
 *
 * @type {typeof import('./worker.js').attach}
 */
export const attach = async (...handle) => (await imported(import('./worker.js'))).attach(...handle);

/** @typedef {import('./common/errors.js').TabacusErrorCode} TabacusErrorCode */
/** @typedef {import('./tab/open.js').OpenOptions} OpenOptions */
/** @typedef {import('./common/timeouts.js').Timeouts} Timeouts */
/** @typedef {import('./tab/tab.js').Tab} Tab */
/** @typedef {import('./tab/tab.js').Counter} Counter */
/** @typedef {import('./tab/tab-options.js').CounterOptions} CounterOptions */
/** @typedef {import('./tab/tab.js').Capabilities} Capabilities */
/** @typedef {import('./tab/counter.js').ReplicatedCounter} ReplicatedCounter */
/** @typedef {import('./tab/counter.js').StoredCounter} StoredCounter */
/** @typedef {import('./tab/guarantee.js').Guarantee} Guarantee */
/** @typedef {import('./tab/guarantee.js').LossCause} LossCause */
/** @typedef {import('./tab/guarantee.js').StorageModel} StorageModel */
/** @typedef {import('./lock/lock.js').Lock} Lock */
/** @typedef {import('./lock/held.js').Held} Held */
/** @typedef {import('./lock/leader.js').Leader} Leader */
/** @typedef {import('./lock/leader.js').Term} Term */
/** @typedef {import('./lock/semaphore.js').Semaphore} Semaphore */
/** @typedef {import('./lock/fenced-transaction.js').FencedTransaction} FencedTransaction */
/** @typedef {import('./lock/lock-options.js').LockOptions} LockOptions */
/** @typedef {import('./limits/transfer.js').CounterState} CounterState */
/** @typedef {import('./limits/transfer.js').MergedState} MergedState */
/** @typedef {import('./limits/handles.js').Sequence} Sequence */
/** @typedef {import('./limits/handles.js').SequenceOptions} SequenceOptions */
/** @typedef {import('./limits/handles.js').Budget} Budget */
/** @typedef {import('./limits/handles.js').BudgetOptions} BudgetOptions */
/** @typedef {import('./limits/handles.js').RateLimit} RateLimit */
/** @typedef {import('./limits/handles.js').RateLimitOptions} RateLimitOptions */
/** @typedef {import('./lock/lock-observer.js').LockRequestInfo} LockRequestInfo */
/** @typedef {import('./queue/queue.js').Queue} Queue */
/** @typedef {import('./queue/queue-options.js').QueueOptions} QueueOptions */
/** @typedef {import('./queue/job-spec.js').EnqueueOptions} EnqueueOptions */
/** @typedef {import('./queue/open-queue.js').Receipt} Receipt */
/** @typedef {import('./queue/handlers.js').Work} Work */
/** @typedef {import('./queue/handlers.js').Handler} Handler */
/** @typedef {import('./queue/job.js').Job} Job */
/** @typedef {import('./queue/queue-state.js').RunningJob} RunningJob */
/** @typedef {import('./queue/job.js').DeadLetter} DeadLetter */
/** @typedef {import('./queue/queue-state.js').QueueState} QueueState */
/** @template T @typedef {import('./lock/serial.js').Serial<T>} Serial */
/** @typedef {import('./common/strategies.js').Strategy} Strategy */
/** @typedef {import('./tab/tab-options.js').Durability} Durability */
/** @typedef {import('./tab/tabacus-event.js').WarningDetail} WarningDetail */
/** @typedef {import('./tab/tabacus-event.js').StoreLostDetail} StoreLostDetail */
