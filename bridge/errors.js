/**
 * The codes of errors, as plain data. scripts/lib/bridge-generator.js writes from it the C++ enumeration, the type of
 * JavaScript, and the numbers of the codes on the bridge; scripts/lib/error-table.js writes docs/errors.md.
 */

/**
 * @typedef {object} ErrorDescription
 * @property {string} when what happened
 * @property {string} action what to do
 */

/** The codes of a TabacusError. @type {Record<string, ErrorDescription>} */
export const errors = {
    'invalid-argument': {
        when: 'The caller passed a value that is never allowed there.',
        action: 'Pass a value that the message allows.',
    },
    'out-of-range': {
        when: 'The result would leave the exact integers, ±(2^53 − 1). Nothing was changed.',
        action: 'Keep the amounts smaller.',
    },
    closed: {
        when: 'The object was closed before the call.',
        action: 'Open it again.',
    },
    'weaker-guarantee': {
        when: 'This context can only promise less than the caller requires.',
        action: 'Pass `allowWeaker: true`, or require less.',
    },
    unavailable: {
        when: 'This context lacks what the call needs, or a file of the package could not be loaded.',
        action: 'Do what the message advises ([when loading fails](loading.md)). `tab.capabilities` shows what this context has.',
    },
    'quota-exceeded': {
        when: 'The store is full. Nothing was kept.',
        action: 'Free space, then try again.',
    },
    'store-failed': {
        when: 'The store refused or lost the operation. Nothing was kept.',
        action: 'Try again.',
    },
    'unknown-commit': {
        when: 'The connection broke while a commit was under way, so its outcome is unknown.',
        action: 'Read what is stored before you write again.',
    },
    fenced: {
        when: 'Another owner took the row over, or the lock was granted to another caller. Nothing of the call was kept.',
        action: 'Acquire the lock again, and begin from what is stored now.',
    },
    'lock-lost': {
        when: 'The lock was released, or lost (stolen, maxHold, the page frozen or hidden, site data cleared).',
        action: 'Acquire it again.',
    },
    deadlock: {
        when: 'The request would have closed a cycle of waits, so it was refused.',
        action: 'Acquire locks in one order, or several at once.',
    },
    'not-owner': {
        when: 'A thread unlocked a mutex or a reader-writer lock that it does not hold.',
        action: 'Unlock where you lock.',
    },
    'not-recoverable': {
        when: 'The owner of a mutex or of a reader-writer lock died, and the next owner unlocked it without `markConsistent()`.',
        action: 'Use another one, and make anew what this one guarded.',
    },
    'would-block': {
        when: 'A blocking call was made on a main thread, which must not block.',
        action: 'Call the asynchronous variant.',
    },
    'would-deadlock': {
        when: 'A thread tried to wait for a mutex or a reader-writer lock that it already holds.',
        action: 'Unlock it first.',
    },
    'kind-mismatch': {
        when: 'The name is in use here with another kind or other options.',
        action: 'Pass the same options, or choose another name.',
    },
    'out-of-memory': {
        when: 'A table of fixed size is full, or the platform has no more memory.',
        action: 'Use fewer names, or close what is not needed.',
    },
    'queue-full': {
        when: 'The queue is as long as its limit allows.',
        action: 'Enqueue later, or raise `limit` in every tab.',
    },
    'not-cloneable': {
        when: 'A payload or a result cannot be cloned.',
        action: 'Pass plain data.',
    },
    'lost-worker': {
        when: 'The tab that ran a job was lost, and the job may not run again.',
        action: 'Enqueue it again if running it twice does no harm.',
    },
    internal: {
        when: 'The program of this tab has failed, by a fault of the package or for want of memory, and is closed. What was flushed is kept.',
        action: 'Open another tab object, and report the failure with its message.',
    },
    'version-mismatch': {
        when: 'Files of two builds of the package were loaded together, or a tab of a newer version has stored what this version cannot read. Nothing of that was changed.',
        action: 'Serve and cache the files of one build together, and reload the page.',
    },
};

/** The codes of C++ that JavaScript reports as errors of the platform, with the names of these errors. */
export const platformErrors = { 'timed-out': 'TimeoutError', aborted: 'AbortError' };

/**
 * The codes that C++ has, in the order of the enumeration ErrorCode, with the comment of each enumerator.
 * @type {Record<string, string>}
 */
export const cppErrors = {
    'invalid-argument': 'the caller passed what the contract forbids',
    'out-of-range': 'the exact result would lie beyond ±(2^53 − 1)',
    closed: 'used after close()',
    unavailable: 'the platform lacks what the call needs',
    'quota-exceeded': 'the store is full; nothing of the call was kept',
    fenced: 'a newer holder owns the row; nothing of the call was kept',
    'store-failed': 'the transaction aborted; nothing of the call was kept',
    'unknown-commit': 'the connection broke during the commit, so its outcome is unknown',
    'lock-lost': 'the lock was released or lost',
    'timed-out': "the caller's time limit passed",
    aborted: "the caller's signal aborted",
    deadlock: 'the request would have closed a cycle of waits',
    'queue-full': 'the queue is as long as its limit allows',
    'out-of-memory': 'the platform has no more memory',
    'version-mismatch': 'a newer version of the program wrote what the call needs',
};
