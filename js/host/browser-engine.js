/**
 * Which engine it is, for the differences between engines that no object of the platform shows.
 *
 * @typedef {import('./host.js').Platform} Platform
 */

/** SpiderMonkey's own class of errors, in pages and workers, whatever name the browser gives itself. @param {Platform} platform */
export const isFirefox = (platform) => 'InternalError' in platform;

/** Chromium names both. @param {Platform} platform */
export function isWebKit({ navigator }) {
    const agent = navigator?.userAgent ?? '';
    return agent.includes('AppleWebKit/') && !agent.includes('Chrome/');
}
