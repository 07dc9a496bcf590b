/**
 * For a page that wants isolation from isolation-worker.js. Isolation is decided when a page
 * loads, so the page must load again once the worker answers for it; that it tried is kept for the
 * session, so that a browser in which it does not help is not made to reload for ever.
 */

const TRIED = 'isolation-worker: tried';

/**
 * @typedef {'isolated' | 'reloading' | 'unavailable' | 'refused'} Isolation
 *   `unavailable`: no service workers here (an insecure address, a private window);
 *   `refused`: the worker is there and the page is still not isolated
 */

/**
 * @param {string | URL} workerUrl  on this origin; answers for the folder that it lies in
 * @returns {Promise<Isolation>} after `reloading` the page is about to go
 */
export async function isolate(workerUrl) {
    if (globalThis.crossOriginIsolated) return 'isolated';
    if (!navigator.serviceWorker) return 'unavailable';
    if (sessionStorage.getItem(TRIED) && navigator.serviceWorker.controller) return 'refused';
    const registration = await navigator.serviceWorker.register(workerUrl);
    if (!registration.active) await controlled(navigator.serviceWorker);
    sessionStorage.setItem(TRIED, 'yes');
    location.reload();
    return 'reloading';
}

/**
 * A first worker takes over the open page (`clients.claim`) as it becomes active. One that is
 * active already never does: the page was loaded past it, and another load is all it takes.
 *
 * @param {ServiceWorkerContainer} container
 * @returns {Promise<void>}
 */
function controlled(container) {
    if (container.controller) return Promise.resolve();
    return new Promise((resolve) => {
        container.addEventListener('controllerchange', () => resolve(), { once: true });
    });
}
