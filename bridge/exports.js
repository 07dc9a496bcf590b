/**
 * The exports of a tab's program, which JavaScript calls. Each is a function of the module of its group in
 * js/core/generated. In C++ it is a function of the same name in wasm/src/bindings/generated, which calls `target`.
 */

import { catalogue } from './exports/catalogue.js';
import { coordination } from './exports/coordination.js';
import { core, counter, counters } from './exports/counters.js';
import { gather } from './exports/gather.js';
import { leader } from './exports/leader.js';
import { limits } from './exports/limits.js';
import { locks } from './exports/locks.js';
import { queues } from './exports/queues.js';
import { transfer } from './exports/transfer.js';

/**
 * @typedef {object} ExportedCall
 * @property {string} name
 * @property {string} doc
 * @property {string} target what the export calls in C++, with its parameters in their order
 * @property {Record<string, string>} [params] the types of the parameters. A class of C++ with & is an object of the
 *   program, which is passed by its address. Numbers are passed as numbers, all other values packed
 * @property {string} [answers] the type of the value to which the returned promise resolves, or `nothing`
 * @property {string} [now] the type of the answer, if C++ gives it before the call returns; then the call returns it
 * @property {string} [returns] the type that C++ returns; such a call has no answer
 * @property {boolean} [always] whether it may be called however many calls are unanswered
 * @property {boolean} [raw] whether it has no function in JavaScript: callers call the export itself, since speed
 *   counts
 * @property {boolean} [byHand] whether it is written by hand, in wasm/src/bindings/counters.cpp
 */

/** The groups of exports. A group is loaded with the JavaScript that uses it. */
export const groups = {
    counters,
    coordination: [...coordination, ...catalogue],
    locks: [...locks, ...leader],
    queues,
    limits,
    gather,
    transfer,
};

/** All exports. @type {ExportedCall[]} */
export const exported = [...core, ...counter, ...Object.values(groups).flat()];

/** The exports by the C++ file that has them. @type {Record<string, ExportedCall[]>} */
export const bindings = {
    counters: [...core, ...counter, ...counters],
    coordination: [...groups.coordination, ...groups.locks, ...queues, ...limits],
    gather,
    transfer,
};

/**
 * A piece of the program.
 *
 * @typedef {object} Piece
 * @property {ExportedCall[]} exports
 * @property {string[]} [entered] classes and methods of C++ through whose virtual tables other pieces call this one,
 *   and only once it is loaded. Only this piece, and pieces that are loaded after it, may call such a method
 * @property {boolean} [alone] whether it is loaded without `locks`, and calls only functions of `counters`
 */

/**
 * The pieces of the program, by the names of their files. A function is in the piece whose exports need it. A function
 * that several pieces need is in `counters`, which is always loaded, if `counters` needs it or one of these pieces is
 * loaded alone. Otherwise it is in `locks`, which is loaded with each of the other pieces.
 *
 * @type {Record<string, Piece>}
 */
export const pieces = {
    counters: { exports: [...core, ...counter, ...counters] },
    locks: { exports: [...coordination, ...locks], entered: ['tabacus::browser::BrowserLocks::query'] },
    gather: { exports: gather, alone: true },
    transfer: { exports: transfer, alone: true },
    storage: { exports: [], entered: ['tabacus::StorageReplica'], alone: true },
    leader: { exports: leader, entered: ['tabacus::browser::BrowserWorld::value_channel'] },
    lease: { exports: [], entered: ['tabacus::LeaseLock'] },
    queue: { exports: queues },
    limits: { exports: limits },
    catalogue: {
        exports: catalogue,
        entered: ['tabacus::ReplicatedCounter::add', 'tabacus::ReplicatedCounter::guarantee'],
    },
};
