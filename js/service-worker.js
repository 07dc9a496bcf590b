/**
 * `tabacus/service-worker`: `open()` for service workers. A service worker cannot load modules later, so all
 * modules are imported at once.
 *
 * @example
 * import { open } from 'tabacus/service-worker'; // in a worker registered with { type: 'module' }
 * const opened = open({ namespace: 'reader' });
 * opened.then((tab) => tab.queue('pages').handle(download));
 * addEventListener('sync', (event) => event.waitUntil(work()));
 * async function work() {
 *     const pages = (await opened).queue('pages');
 *     await pages.resume(); // the network is back
 *     await pages.onIdle();
 * }
 */

import * as coordination from './core/load-coordination.js';
import { moduleRegistry } from './core/module-registry.js';
import * as limits from './limits/limits.js';
import * as locks from './lock/tab-locks.js';
import * as transfer from './limits/transfer.js';
import * as queues from './queue/queues.js';
import * as catalogue from './tab/catalogue.js';

for (const [name, module] of Object.entries({ catalogue, coordination, limits, locks, queues, transfer })) {
    moduleRegistry.set(name, module);
}

export { open } from './tab/open.js';
export { TabacusEvent } from './tab/tabacus-event.js';
export { DeadlockError, TabacusError, TabacusRangeError } from './common/errors.js';
