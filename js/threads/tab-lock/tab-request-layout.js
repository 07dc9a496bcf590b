/** What wasm/include/tabacus/sync/tab_request.hpp fixes; apart, since only threads that use locks over tabs load it. */

/** The offsets of a request's fields in bytes, as in tab_request.hpp. */
export const requestFields = Object.freeze({
    state: 0,
    agent: 4,
    reason: 12,
    token: 16,
    nameUnits: 24,
    name: 28,
});
export const tabStates = Object.freeze({ asked: 2, trying: 3, granted: 4, lost: 5, refused: 6, over: 7 });
export const tabHas = Object.freeze({ nothing: 0, waiting: 1, trying: 2, holding: 3 });
export const tabTasks = Object.freeze({ nothing: 0, wait: 1, attempt: 2, drop: 3 });

/**
 * Why a page refuses a lock, by number: it is not available, or the code of the page's error.
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
    ]),
);
