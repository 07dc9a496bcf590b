/**
 * Whether a text has no lone surrogates. It replaces `String.prototype.isWellFormed`, which some supported
 * browsers lack.
 *
 * @param {string} text
 */
export const isWellFormed = (text) => !/\p{Surrogate}/u.test(text);
