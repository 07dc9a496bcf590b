/** The layout of an arena: numbers that JavaScript and C++ (wasm/include/tabacus/sync/arena.hpp) share. */

/**
 * How a counter in shared memory adds:
 * - `atomic`: by an atomic addition to one cell.
 * - `mutexed`: by a load, an addition and a store under a mutex.
 * - `striped`: by an atomic addition to one of several cells, each for a few threads. A read sums the cells.
 * - `unsynchronised`: by a load, an addition and a store without a mutex. It loses updates, and exists to
 *   show that.
 *
 * @typedef {'atomic' | 'mutexed' | 'striped' | 'unsynchronised'} CounterKind
 */

/**
 * The kind of another object that has a name.
 *
 * @typedef {'mutex' | 'rwLock' | 'semaphore' | 'barrier' | 'condition' | 'once'} ObjectKind
 */

/** @type {Readonly<Record<CounterKind | ObjectKind, number>>} */
export const kindNumbers = Object.freeze({
    atomic: 1,
    mutexed: 2,
    striped: 3,
    unsynchronised: 4,
    mutex: 5,
    rwLock: 6,
    semaphore: 7,
    barrier: 8,
    condition: 9,
    once: 10,
});

/** Returns the kind of a number. @param {number} number */
export const kindNamed = (number) =>
    /** @type {CounterKind | ObjectKind} */ (
        Object.entries(kindNumbers).find(([, candidate]) => candidate === number)?.[0] ?? 'mutex'
    );

export const arenaMagic = 0x7abac005;
export const arenaVersion = 7;
export const lineBytes = 128;

/** Offsets of fields, in bytes from the beginning of the arena, of an agent, of an entry and of a hammer. */
export const arenaFields = Object.freeze({ magic: 0, version: 4, wanted: 32, joined: 36, agentsUsed: 40 });
export const agentFields = Object.freeze({
    id: 0,
    outcome: 8,
    claim: 12,
    name: 16,
    end: 4096,
});

/** The claim of a thread whose exit nobody can notice. */
export const unwatchedClaim = -1;

export const onceFields = Object.freeze({ done: 8 });
export const entryFields = Object.freeze({ kind: 0, object: 4 });
export const hammerFields = Object.freeze({ running: 0, refused: 4, missing: 8, lockedOut: 12 });

export const outcomes = Object.freeze({ added: 0, outOfRange: 1, wouldBlock: 2 });
export const locks = Object.freeze({ acquired: 0, wouldDeadlock: 1, busy: 3, notRecoverable: 5 });
/** The word of a mutex (mutex.hpp). */
export const mutexWord = Object.freeze({ died: 2, ownerShift: 2, notRecoverable: -1 });
export const unlocks = Object.freeze({ released: 0 });

/** A record (combiner.hpp), and the bits of its state. */
export const recordFields = Object.freeze({ state: 0, ticket: 4 });
export const recordBits = Object.freeze({ wants: 1, afterDeath: 16, sleeps: 64 });
export const rwModes = Object.freeze({ shared: 0, exclusive: 2 });
export const acquired = Object.freeze({ acquired: 0, timedOut: 2, ownerDied: 4, notRecoverable: 5 });
export const permitsMax = 2 ** 23 - 1;
export const partiesMax = 512;
