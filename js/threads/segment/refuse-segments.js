/** Refuses segments that the page does not make: apart, since it is also used if the module that makes them does not load. */

import { slotFields, segmentSlots, noModule } from './segment-layout.js';

/**
 * Writes why into slots without a segment: `noPage` into all of them, which is final; `noModule` into those that
 * are wanted.
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
