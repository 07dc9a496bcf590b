/** How the page hears that a thread has died: its Web Lock is free (life.js). */

export { live, watch } from './liveness-lock.js';

/** What the platform calls this thread: nothing. */
export const threadNumber = () => 0;
