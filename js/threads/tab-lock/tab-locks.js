/**
 * The module of locks over tabs, for the page and for its Workers. It is only loaded if a memory was made
 * with a tab.
 */

export { Broker } from './broker.js';
export { joinTabLocks } from './join-tab-locks.js';
export { SharedTabLock } from './shared-tab-lock.js';
