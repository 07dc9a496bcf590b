/**
 * Isolation where the host cannot send headers (GitHub Pages and other static hosts): a service
 * worker that adds them to what the page loads from its own origin. It stores nothing, changes no
 * body, and is registered only by a page that asks for it (isolation.js).
 *
 * A classic script on purpose: not every engine runs service workers as modules.
 */

const HEADERS = {
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Embedder-Policy': 'require-corp',
    'Cross-Origin-Resource-Policy': 'same-origin',
};

/** A Response with one of these refuses to be made with a body (Fetch, "null body status"). */
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
 * Another origin's answers are opaque, and only that origin may allow to embed them.
 * `only-if-cached` is legal for same-origin requests alone, and fetching one again from here
 * throws; devtools send them.
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
    // Neither an opaque answer nor a redirect for the browser to follow can be made again.
    if (response.status === 0) return response;
    const headers = new Headers(response.headers);
    for (const [name, value] of Object.entries(HEADERS)) headers.set(name, value);
    const { status, statusText } = response;
    const body = BODILESS.includes(status) ? null : response.body;
    return new Response(body, { status, statusText, headers });
}
