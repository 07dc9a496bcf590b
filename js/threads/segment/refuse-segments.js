/** What the page says at the doors of rooms that it does not make: apart, since it says so also of what makes them. */

import { doorFields, doors, noModule } from './segment-layout.js';

/**
 * At doors without a room: `noPage` at all of them, which is final; `noModule` at those that are wanted.
 *
 * @param {import('../thread-core.js').Core} core
 * @param {number} why
 */
export function refuseRooms({ words, root }, why) {
    for (const door of Object.values(doors)) {
        const at = (root + door) >> 2;
        if (why === noModule && Atomics.load(words, at + (doorFields.wanted >> 2)) === 0) continue;
        const room = at + (doorFields.room >> 2);
        Atomics.compareExchange(words, room, noModule, why);
        Atomics.compareExchange(words, room, 0, why);
        Atomics.notify(words, room);
    }
}
