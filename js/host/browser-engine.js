/**
 * Recognition of the browser's engine, for differences between engines that no object of the platform shows.
 *
 * @typedef {import('./host.js').Platform} Platform
 */

/**
 * Whether the engine is Firefox's. Only SpiderMonkey has the class InternalError, in pages and in Workers,
 * whatever the browser calls itself.
 *
 * @param {Platform} platform
 */
export const isFirefox = (platform) => 'InternalError' in platform;

/**
 * Whether the engine is WebKit. Chromium's user agent string names WebKit, too.
 *
 * @param {Platform} platform
 */
export function isWebKit({ navigator }) {
    const agent = navigator?.userAgent ?? '';
    return agent.includes('AppleWebKit/') && !agent.includes('Chrome/');
}
