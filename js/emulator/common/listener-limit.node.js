/**
 * The number of listeners above which Node warns of a leak. Browsers have no such limit, and what runs in a tab may add
 * any number of listeners.
 */

import events, { setMaxListeners } from 'node:events';

/**
 * Lets a target that is being made have any number of listeners. While an exploration is under way, targets are made
 * without a limit.
 *
 * @param {EventTarget} target
 */
export function madeUnlimited(target) {
    if (events.defaultMaxListeners !== 0) unlimited(target);
}

/** Lets a target have any number of listeners. @param {EventTarget} target */
export function unlimited(target) {
    try {
        setMaxListeners(0, target);
    } catch {
        // A DOM that a test runner has put in the place of Node's EventTarget has no limit.
    }
}

/** How many explorations are under way. */
let explorations = 0;
/** The limit before the first of them began. */
let before = 0;

/**
 * Lets targets that are made from here on have any number of listeners, until every exploration has called the function
 * that this call returns.
 */
export function withoutLimit() {
    if (explorations++ === 0) {
        before = events.defaultMaxListeners;
        setMaxListeners(0);
    }
    return () => {
        if (--explorations === 0 && events.defaultMaxListeners === 0) setMaxListeners(before);
    };
}
