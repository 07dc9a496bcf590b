/**
 * @param {{ fetch: typeof fetch }} platform
 * @param {string} address
 */
export const fetchFile = (platform, address) => platform.fetch(address);
