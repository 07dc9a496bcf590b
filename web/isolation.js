/**
 * Isolates a page by isolation-worker.js. A browser decides about isolation when a page loads, so the page must load
 * again once the worker controls it. sessionStorage keeps that the page has tried, so that it does not reload for ever
 * in a browser that stays without isolation.
 */

const TRIED = 'isolation-worker: tried';

/**
 * @typedef {'isolated' | 'reloading' | 'unavailable' | 'refused'} Isolation
 *   `isolated`: the page has shared memory;
 *   `reloading`: the page is about to load again;
 *   `unavailable`: there are no service workers here (an insecure address, a private window);
 *   `refused`: the worker controls the page, but the page is still not isolated
 */

/**
 * Makes the page isolated, by a reload if need be.
 *
 * @param {string | URL} workerUrl  of isolation-worker.js, on this origin; it controls the folder that it lies in
 * @returns {Promise<Isolation>}
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
 * Resolves once a worker controls the page. A new worker takes control of open pages as it becomes active
 * (`clients.claim`). A worker that was active before never does: then the page has bypassed it, and a reload suffices.
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
