/** What coordinates tabs: locks, queues, limits and the other strategies, on the program and the host of the tab. */

import { learnStorable } from '../host/learn-storable.js';
import { LockSnapshots } from '../host/lock-snapshots.js';
import { CoordinationListeners } from './coordination-listeners.js';
import { coordinationClose, coordinationNew } from './generated/coordination.js';
import { callCoordination } from './generated/coordination-calls.js';

/**
 * Loads what all of it is built on. Without Web Locks, that is the lease in IndexedDB, too.
 *
 * @param {import('./bridge.js').Bridge} bridge
 * @param {import('../host/host.js').Platform} platform
 * @param {(piece: import('./program.js').PieceName) => Promise<unknown>} load
 * @returns {Promise<() => void>} loses every lock; what waits for one is rejected with `closed`
 */
export async function startCoordination(bridge, platform, load) {
    const { host } = bridge;
    const known = ready(host).then(() => learnStorable(platform, host.database));
    await Promise.all([known, load('locks')]);
    if (!host.locks.available) await load('lease');
    bridge.listeners = new CoordinationListeners();
    bridge.lockSnapshots = new LockSnapshots(host);
    bridge.callFurther = callCoordination;
    bridge.coordination = coordinationNew(bridge, bridge.core);
    return () => coordinationClose(bridge);
}

/**
 * @param {import('../host/host.js').Host} host
 * @returns {Promise<void>} when the database is open, or refused to, and it is known whether there are locks
 */
export async function ready(host) {
    await host.database.ready();
    await host.probe();
    if (host.database.refused) host.database.available = false;
}
