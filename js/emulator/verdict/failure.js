/** The kinds of failures of a run, and which failures are the same. */

/**
 * The kind of a failure:
 *
 * - `setup`: the setup throws, or waits for ever
 * - `scenario`: a scenario throws, or its promise is rejected
 * - `uncaught`: an error that no handler of a tab has handled
 * - `rejection`: a rejected promise that no code of a tab has handled
 * - `waits`: a tab waits for ever
 * - `endless`: the run takes more steps than it may
 * - `invariant`: the invariant does not hold, or throws
 * - `invariant-waits`: the invariant waits for ever
 *
 * @typedef {'setup' | 'scenario' | 'uncaught' | 'rejection' | 'waits' | 'endless' | 'invariant' | 'invariant-waits'} FailureKind
 */

/**
 * A failure; `failure` is empty, and there is no `kind`, if nothing failed.
 *
 * @typedef {{ failure: string, kind?: FailureKind | undefined }} Failing
 */

/** Returns the text up to the end of its first sentence or line. @param {string} text */
export const firstSentence = (text) => /^.*?(?:[.!?](?=\s)|$)/m.exec(text)?.[0] ?? text;

/**
 * Whether two runs fail in the same way: their failures have one kind and one first sentence. A sentence that follows
 * may hold details, which differ from schedule to schedule.
 *
 * @param {Failing} one
 * @param {Failing} other
 */
export const sameFailure = (one, other) =>
    one.failure !== '' &&
    one.kind === other.kind &&
    firstSentence(one.failure) === firstSentence(other.failure);
