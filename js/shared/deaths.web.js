/** How the page hears that a thread has died: its Web Lock is free (life.js). */

export { live, watch } from './life.js';

/** What the platform calls this thread: nothing. */
export const threadNumber = () => 0;
