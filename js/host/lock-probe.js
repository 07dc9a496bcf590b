/**
 * Finds out whether new documents of the origin have the lock manager of this one. After `Clear-Site-Data: "storage"`,
 * Chromium (156, measured) gives new documents another lock manager than those that are open, while all of them share
 * the new database. Firefox 153 and WebKitGTK 2.50 keep one.
 */

/** How long a new frame may take to answer. */
const within_ms = 2_000;

/**
 * Whether this document is cut off: new documents have another lock manager. A frame, which is such a document, is
 * granted a lock that this one holds. A Worker cannot make one, and is taken as not cut off.
 *
 * @param {import('./host.js').Host} host
 * @returns {Promise<boolean>}
 */
export async function isCutOff(host) {
    const { clock, database, locks } = host;
    if (locks.cutOff || !database.wasClosed) return locks.cutOff;
    let stop = () => {};
    const late = new Promise((resolve) => {
        stop = clock.after(within_ms, () => resolve(false));
    });
    locks.cutOff = (await Promise.race([frameIsGrantedOurs(host).catch(() => false), late])) === true;
    stop();
    if (locks.cutOff) {
        host.warn(
            'lock-manager-replaced',
            'Site data was cleared, and new tabs have another lock manager. This one takes part in no lock, queue or limit any more: reload the page.',
            '',
        );
        host.capabilitiesChanged();
    }
    return locks.cutOff;
}

/**
 * Holds a lock, and asks for it in a frame.
 *
 * @param {import('./host.js').Host} host
 * @returns {Promise<boolean>} whether the frame is granted it
 */
async function frameIsGrantedOurs({ clock, locks, platform }) {
    const page = /** @type {Partial<Document>} */ (platform.document ?? {});
    const frame = page.createElement?.('iframe');
    if (!frame || !locks.manager) return false;
    const name = `tabacus/probe/${clock.random32()}`;
    frame.hidden = true;
    page.documentElement?.append(frame);
    try {
        const ours = /** @type {LockManager | undefined} */ (frame.contentWindow?.navigator.locks);
        return (
            (await locks.manager.request(name, () =>
                ours?.request(name, { ifAvailable: true }, (lock) => lock !== null),
            )) === true
        );
    } finally {
        frame.remove();
    }
}
