/** Node reads blobs and bodies that are in memory in microtasks, before the next event: a tab has its interfaces. */

/** @type {Record<string, (context: import('../context.js').Context) => unknown>} */
export const READING = {};

/**
 * Returns the response, whose interface is that of the host.
 *
 * @param {import('../context.js').Context} context
 * @param {Response} response
 */
export const adopted = (context, response) => response;
