/** Does nothing, because each thread holds a liveness lock (liveness-lock.js). */
export const watchWorkers = () => {};
