/** The number of listeners above which the host warns of a leak. Browsers have no such limit. */

/** Lets a target that is being made have any number of listeners. @param {EventTarget} _target */
export const madeUnlimited = (_target) => {};

/** Lets a target have any number of listeners. @param {EventTarget} _target */
export const unlimited = (_target) => {};

/**
 * Lets targets that are made from here on have any number of listeners, until every exploration has called the function
 * that this call returns.
 */
export const withoutLimit = () => () => {};
