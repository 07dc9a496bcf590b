/**
 * The modules that js/service-worker.js has imported, by name. Elsewhere they are loaded by their first use,
 * but a service worker may not call import() (HTML, HostLoadImportedModule).
 *
 * @type {Map<string, any>}
 */
export const moduleRegistry = new Map();
