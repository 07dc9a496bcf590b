/**
 * Finds out whether new documents of the origin have the lock manager of this one. After `Clear-Site-Data: "storage"`,
 * Chromium (156, measured) gives new documents another lock manager than those that are open, while all of them share
 * the new database. Firefox 153 and WebKitGTK 2.50 keep one.
 */

import { hiddenFrame } from './hidden-frame.js';

/** How long a new frame may take to answer. */
const within_ms = 2_000;

/** How many frames in a row may give no answer while the page's timers run. After that the page counts as cut off. */
const silent_max = 2;

/**
 * Whether this document is cut off, which means that new documents have another lock manager. To find out, this
 * document holds a lock and makes a frame, which is a new document: if the frame is granted the lock, this document is
 * cut off. A Worker cannot make a frame, and counts as not cut off. So does a document whose database was never closed,
 * because its data has not been cleared.
 *
 * @param {import('./host.js').Host} host
 * @returns {Promise<boolean>}
 */
export async function isCutOff(host) {
    const { clock, database, lifecycle, locks } = host;
    if (locks.cutOff || !database.wasClosed) return locks.cutOff;
    /** @type {boolean | undefined} */
    let answer;
    for (let silent = 0; answer === undefined && silent < silent_max;) {
        const began_ms = clock.monotonic();
        answer = await frameIsGrantedOurs(host);
        // A page that is suspended fires its timer late, maybe before it gets the answer. One that is prerendered gets
        // no lock.
        const late = clock.monotonic() - began_ms > 2 * within_ms;
        if (!late && !lifecycle.prerendering) ++silent;
    }
    locks.cutOff = answer ?? true;
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
 * Holds a lock, and requests the same lock in a frame.
 *
 * @param {import('./host.js').Host} host
 * @returns {Promise<boolean | undefined>} whether the frame is granted it; undefined if that is not known in time
 */
async function frameIsGrantedOurs({ clock, locks, platform }) {
    const { manager } = locks;
    const frame = manager && hiddenFrame(platform);
    if (!frame) return false;
    const name = `tabacus/probe/${clock.random32()}`;
    let stop = () => {};
    /** @type {Promise<undefined>} */
    const late = new Promise((resolve) => {
        stop = clock.after(within_ms, () => resolve(undefined));
    });
    try {
        const answer = manager.request(name, () => {
            const { locks: theirs } = /** @type {Window} */ (frame.contentWindow).navigator;
            return Promise.race([theirs.request(name, { ifAvailable: true }, (lock) => lock !== null), late]);
        });
        return await Promise.race([answer.catch(() => late), late]);
    } finally {
        stop();
        frame.remove();
    }
}
