/**
 * Whether no surrogate of a text stands alone, as `String.prototype.isWellFormed` says: browsers that we support
 * may lack that method.
 *
 * @param {string} text
 */
export const isWellFormed = (text) => !/\p{Surrogate}/u.test(text);
