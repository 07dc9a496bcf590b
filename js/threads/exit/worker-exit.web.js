/** How the page learns that a thread has exited: it is granted the thread's liveness lock (liveness-lock.js). */

export { holdLivenessLock, watchExit } from './liveness-lock.js';

/** What the platform calls this thread: nothing. */
export const threadNumber = () => 0;
