/**
 * The package for a service worker that is a module of its own, without a bundler: HTML forbids `import()`
 * there (HostLoadImportedModule, HTML § 8.1.6.7.3), so that what pages load on first use is imported at once.
 * Memory is not shared with pages, and there are no Workers to share it with.
 *
 * @example
 * import { open } from './node_modules/tabacus/dist/web/tabacus-service-worker.js';
 * const opened = open({ namespace: 'shop' });
 */

import { open as openTab } from './tab/open.js';

export { TabacusEvent } from './tab/event.js';
export { DeadlockError, TabacusError, TabacusRangeError } from './errors.js';

/**
 * `open()` of 'tabacus'.
 *
 * @type {typeof import('./tab/open.js').open}
 */
export const open = (options) => openTab({ build: 'single', ...options });
