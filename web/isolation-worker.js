/**
 * Isolation on a host that cannot send headers (GitHub Pages and other static hosts): a service worker that adds them
 * to what the page loads from its own origin. It stores nothing and changes no body. Only a page that asks for it
 * registers it (isolation.js).
 *
 * It is a classic script, since not every engine runs service workers as modules.
 */

const HEADERS = {
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Embedder-Policy': 'require-corp',
    'Cross-Origin-Resource-Policy': 'same-origin',
};

/** The statuses with which the constructor of Response throws if there is a body (Fetch, "null body status"). */
const BODILESS = [101, 204, 205, 304];

const worker = /** @type {any} */ (self);

worker.addEventListener('install', () => worker.skipWaiting());
worker.addEventListener('activate', (/** @type {any} */ event) => {
    event.waitUntil(worker.clients.claim());
});
worker.addEventListener('fetch', (/** @type {any} */ event) => {
    if (isOurs(event.request)) event.respondWith(fetchIsolated(event.request));
});

/**
 * Whether the request is for this origin. Answers of another origin are opaque, and only that origin may allow to
 * embed them. Developer tools send requests with `only-if-cached`; fetching one from here throws unless its mode is
 * `same-origin`.
 *
 * @param {Request} request
 */
function isOurs(request) {
    if (request.cache === 'only-if-cached' && request.mode !== 'same-origin') return false;
    return new URL(request.url).origin === worker.location.origin;
}

/** @param {Request} request */
async function fetchIsolated(request) {
    const response = await fetch(request);
    // An opaque answer, or a redirect that the browser follows, cannot be copied.
    if (response.status === 0) return response;
    const headers = new Headers(response.headers);
    for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value);
    const { status, statusText } = response;
    const body = BODILESS.includes(status) ? null : response.body;
    return new Response(body, { status, statusText, headers });
}
