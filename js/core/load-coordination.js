/**
 * Coordination: the part of the program on which locks, queues, limits and all strategies but the default are
 * built, and what JavaScript needs for it.
 */

import { learnStorable } from '../host/learn-storable.js';
import { LockSnapshots } from '../host/lock-snapshots.js';
import { ValueChannels } from '../host/value-channels.js';
import { CoordinationListeners } from './coordination-listeners.js';
import { coordinationClose, coordinationNew } from './generated/coordination.js';
import { callCoordination } from './generated/coordination-calls.js';

export { persist } from '../host/persistence.js';

/**
 * Loads coordination and starts it. Without Web Locks, the piece of leases in IndexedDB is loaded, too.
 *
 * @param {import('./bridge.js').Bridge} bridge
 * @param {import('../host/host.js').Platform} platform
 * @param {(piece: import('./program.js').PieceName) => Promise<unknown>} load
 * @returns {Promise<() => void>} a function that ends coordination: every lock is lost, and every request
 *   that waits for a lock is rejected with `closed`
 */
export async function startCoordination(bridge, platform, load) {
    const { host } = bridge;
    const known = ready(host).then(() => learnStorable(platform, host.database));
    await Promise.all([known, load('locks')]);
    if (!host.locks.available) await load('lease');
    bridge.listeners = new CoordinationListeners();
    bridge.lockSnapshots = new LockSnapshots(host);
    bridge.valueChannels = new ValueChannels(host);
    bridge.callFurther = callCoordination;
    bridge.coordination = coordinationNew(bridge, bridge.core);
    return () => coordinationClose(bridge);
}

/**
 * Waits until the database is open or has refused to open, and until it is known whether there are Web Locks.
 * A database that refuses every call is treated as absent.
 *
 * @param {import('../host/host.js').Host} host
 * @returns {Promise<void>}
 */
export async function ready(host) {
    await host.database.ready();
    await host.probe();
    if (host.database.refused) host.database.available = false;
}
