/** The headers of every answer: those that a page needs for shared memory, and the policy for what it may load. */

/**
 * The headers for cross-origin isolation, without which a page has no SharedArrayBuffer (HTML, "agent clusters"). The
 * page then shares no browsing context group with a window of another origin, and loads a resource of another origin
 * only if that allows it.
 */
export const ISOLATION = Object.freeze({
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Embedder-Policy': 'require-corp',
});

/**
 * A strict content security policy: the page loads everything from this origin, and has no inline code and no `eval`.
 * `wasm-unsafe-eval` permits compiling WebAssembly, but no `eval` of JavaScript.
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
 * The headers of an answer. `no-cache` lets a browser keep a copy, which it revalidates each time. With `no-store`,
 * the page would not enter the back/forward cache, which the tests of its lifecycle need.
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
