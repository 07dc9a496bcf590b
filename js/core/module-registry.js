/**
 * What js/service-worker.js has imported, by name: modules of ours that are else loaded by
 * their first use. A service worker may not import() (HTML, HostLoadImportedModule).
 *
 * @type {Map<string, any>}
 */
export const moduleRegistry = new Map();
