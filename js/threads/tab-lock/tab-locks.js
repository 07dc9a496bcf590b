/** Locks over tabs of a memory that was made with a tab, for the page and for its Workers: loaded where there is one. */

export { Broker } from './broker.js';
export { joinTabLocks } from './join-tab-locks.js';
export { SharedTabLock } from './shared-tab-lock.js';
