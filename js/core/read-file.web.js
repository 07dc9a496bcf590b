/**
 * A page reads nothing but by fetch().
 *
 * @param {string} _address
 * @returns {Promise<Uint8Array<ArrayBuffer>> | undefined}
 */
export const readFileAt = (_address) => undefined;
