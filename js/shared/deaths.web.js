/** How the page hears that a thread has died: its Web Lock is free (life.js). */

export { live, watch } from './life.js';

/** Nothing need be begun: a thread shows its sign by itself. */
export const beginWatching = () => {};

/** What the platform calls this thread: nothing. */
export const threadNumber = () => 0;
