/**
 * The headers of every answer: what a page needs to have shared memory, and what it may load.
 */

/**
 * Cross-origin isolation, without which a page has no SharedArrayBuffer (HTML, "agent clusters"):
 * the page shares its process with no window that it did not open from its own origin, and loads
 * nothing that has not agreed to be loaded.
 */
export const ISOLATION = Object.freeze({
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Embedder-Policy': 'require-corp',
});

/**
 * A strict content security policy: everything from this origin, nothing inline, no `eval`.
 * `wasm-unsafe-eval` is the permission to compile WebAssembly and gives none to JavaScript.
 */
export const STRICT_CSP = [
    "default-src 'self'",
    "script-src 'self' 'wasm-unsafe-eval'",
    "style-src 'self'",
    "img-src 'self' data:",
    "worker-src 'self'",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
].join('; ');

/**
 * `no-cache` lets a browser keep a copy but ask each time; `no-store` would keep the page out of
 * the back/forward cache, which our lifecycle tests need it to enter.
 *
 * @param {{ isolated: boolean, csp: string | null }} policy
 * @returns {Record<string, string>}
 */
export function policyHeaders({ isolated, csp }) {
    return {
        'Cache-Control': 'no-cache',
        'Cross-Origin-Resource-Policy': 'same-origin',
        'Referrer-Policy': 'no-referrer',
        'X-Content-Type-Options': 'nosniff',
        ...(csp === null ? {} : { 'Content-Security-Policy': csp }),
        ...(isolated ? ISOLATION : {}),
    };
}
