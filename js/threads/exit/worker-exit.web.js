/**
 * Detects the exit of a thread in browsers: the page requests the thread's liveness lock, and is granted it
 * (liveness-lock.js).
 */

export { holdLivenessLock, watchExit } from './liveness-lock.js';

/** Returns 0: browsers have no numbers for threads. */
export const threadNumber = () => 0;
