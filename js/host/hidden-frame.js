/** Hidden frames: each is a new document of the origin, with objects of the platform of its own. */

/**
 * Appends an empty hidden frame to the page. A Worker has no document, and gets none.
 *
 * @param {import('./host.js').Platform} platform
 * @returns {HTMLIFrameElement | undefined}
 */
export function hiddenFrame({ document }) {
    const page = /** @type {Partial<Document>} */ (document ?? {});
    const frame = page.createElement?.('iframe');
    if (!frame) return undefined;
    frame.hidden = true;
    page.documentElement?.append(frame);
    return frame;
}
