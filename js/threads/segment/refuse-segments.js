/**
 * Refuses segments that the page does not make. It is a file of its own, because it is also needed if the
 * module that makes segments cannot be loaded.
 */

import { slotFields, segmentSlots, noModule } from './segment-layout.js';

/**
 * Writes the reason into the slots that have no segment: `noPage` into all of them, which is final;
 * `noModule` into those that a thread has requested.
 *
 * @param {import('../thread-core.js').ThreadCore} core
 * @param {number} why
 */
export function refuseSegments({ words, root }, why) {
    for (const slot of Object.values(segmentSlots)) {
        const at = (root + slot) >> 2;
        if (why === noModule && Atomics.load(words, at + (slotFields.wanted >> 2)) === 0) continue;
        const segment = at + (slotFields.segment >> 2);
        Atomics.compareExchange(words, segment, noModule, why);
        Atomics.compareExchange(words, segment, 0, why);
        Atomics.notify(words, segment);
    }
}
