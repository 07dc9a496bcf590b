/** A thread shows its sign of life by itself: there is nothing to begin. */
export const beginWatching = () => {};
