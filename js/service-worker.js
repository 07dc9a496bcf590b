/**
 * The package for service workers: HTML forbids `import()` there (HostLoadImportedModule), so that what pages load
 * on first use is imported at once (core/load.static.js). The build is `single`: there are no Workers in a service
 * worker to share memory with.
 *
 * @example
 * import { open } from 'tabacus/service-worker'; // in a worker registered with { type: 'module' }
 * const opened = open({ namespace: 'reader' });
 * opened.then((tab) => tab.queue('pages').handle(download));
 * addEventListener('sync', (event) => event.waitUntil(opened.then((tab) => tab.queue('pages').onIdle())));
 */

import { open as openTab } from './tab/open.js';

export { TabacusEvent } from './tab/event.js';
export { DeadlockError, TabacusError, TabacusRangeError } from './errors.js';

/**
 * `open()` of 'tabacus'.
 *
 * @param {Omit<import('./tab/open.js').OpenOptions, 'build'>} [options]
 */
export const open = (options) => openTab({ ...options, build: 'single' });
