/** The option `timeouts` of `open()` in the pages of the soak test. */

/** Shorter than by default, so that a connection without answers is replaced often. */
export const TIMEOUTS = { open: 2000, transaction: 3000 };
