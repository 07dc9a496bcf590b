/**
 * The module of locks and counters over tabs, for the page and for its Workers. It is only loaded if a memory was made
 * with a tab.
 */

export { Broker } from './broker.js';
export { joinTabLocks } from './join-tab-locks.js';
export { SharedTabCounter } from '../tab-counter/shared-tab-counter.js';
export { SharedTabLock } from './shared-tab-lock.js';
