/**
 * The layout of segments: numbers that JavaScript and C++ (segment.hpp, storage_table.hpp, arena.hpp) share.
 * It is a file of its own, because only threads that share a storage or locks load it.
 */

export const blockBytes = 64;

/** The offsets of the arena's slots for segments, and of the fields of a slot. */
export const segmentSlots = Object.freeze({ storage: 8, locks: 20 });
export const slotFields = Object.freeze({ wanted: 0, segment: 4, quota: 8 });

/** The value of a slot if there was no memory for its segment. */
export const noMemory = -1;

/** The value of a slot if the page that makes segments is closed. */
export const noPage = -2;

/**
 * The value of a slot if the page could not load the module that makes segments. The next request makes it
 * try again.
 */
export const noModule = -3;

export const segmentFields = Object.freeze({
    version: 0,
    lastChange: 4,
    joined: 8,
    id: 12,
    first: 20,
    mirror: 24,
    members: 28,
});
export const memberFields = Object.freeze({ id: 0, thread: 4, end: 8 });
export const membersMax = 256;

/** @type {Readonly<Record<'next' | 'units' | 'head' | 'more', number>>} */
export const textFields = Object.freeze({ next: 0, units: 4, head: 12, more: 4 });
/** @type {Readonly<Record<'head' | 'more', number>>} */
export const textUnits = Object.freeze({ head: 26, more: 30 });
export const itemFields = Object.freeze({ next: 0, value: 4, key: 8 });
export const changeFields = Object.freeze({ writer: 0, key: 4, oldValue: 8, newValue: 12 });

export const stored = Object.freeze({ changed: 0, unchanged: 1, full: 2 });

/** The layout of lock requests, which shared_lock_table.hpp defines. */
export const requestFields = Object.freeze({ next: 0, state: 4, client: 8, name: 12, mode: 16 });
export const lockStates = Object.freeze({ pending: 1, held: 2, stolen: 3 });
export const lockModes = /** @type {const} */ (['exclusive', 'shared']);
export const lockHow = Object.freeze({ wait: 0, ifAvailable: 1, steal: 2 });
export const notAvailable = 0;
export const noRequest = 0xffffffff;

/** The number of the writer, for changes that other tabs have made. */
export const otherTabs = 0;

/** How localStorage relates to the shared storage, by the number in the field `mirror`. */
export const mirrorStates = /** @type {const} */ (['memory', 'mirrored', 'behind']);
