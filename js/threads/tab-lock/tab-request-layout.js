/**
 * The layout of requests for locks over tabs, and about counters: numbers that JavaScript and C++
 * (wasm/include/tabacus/sync/tab_request.hpp) share. It is a file of its own, because only threads of a
 * memory with a tab load it.
 */

/**
 * The offsets of a request's fields, in bytes. The tables that follow have the states of a request, the page's states
 * of it, and the page's tasks.
 */
export const requestFields = Object.freeze({
    state: 0,
    agent: 4,
    reason: 12,
    token: 16,
    nameUnits: 24,
    name: 28,
    purpose: 284,
});
export const tabStates = Object.freeze({ asked: 2, trying: 3, granted: 4, lost: 5, refused: 6, over: 7 });
export const tabHas = Object.freeze({ nothing: 0, waiting: 1, trying: 2, holding: 3 });
export const tabPurposes = Object.freeze({ lock: 0, counter: 1 });
export const tabTasks = Object.freeze({ nothing: 0, wait: 1, attempt: 2, drop: 3 });

/**
 * The reasons for which a page refuses a request, by their numbers: empty if a lock is not available,
 * otherwise the code of the page's error.
 *
 * @type {readonly (import('../../common/errors.js').TabacusErrorCode | '')[]}
 */
export const tabReasons = Object.freeze(
    /** @type {const} */ ([
        '',
        'unavailable',
        'closed',
        'weaker-guarantee',
        'store-failed',
        'quota-exceeded',
        'unknown-commit',
        'fenced',
        'lock-lost',
        'out-of-range',
        'out-of-memory',
        'internal',
    ]),
);
