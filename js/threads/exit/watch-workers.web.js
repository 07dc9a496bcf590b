/** Does nothing: each thread holds its liveness lock by itself. */
export const watchWorkers = () => {};
