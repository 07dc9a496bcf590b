/**
 * Whether the browser is Firefox: of what this is asked for, no object of the platform tells.
 *
 * @param {import('./host.js').Platform} platform
 */
export const isFirefox = ({ navigator }) => navigator?.userAgent?.includes(' Firefox/') ?? false;
