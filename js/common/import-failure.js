import { TabacusError } from './errors.js';

/** What to do, by what the engines' messages have in them. @type {readonly [RegExp, string][]} */
const cures = [
    // Gecko keeps a failed import() for the life of the document.
    [
        /^error loading dynamically/i,
        'this browser does not load it again before the page is reloaded: reload it',
    ],
    [
        /service ?worker/i,
        "a service worker may not import() later: import open() of 'tabacus/service-worker'",
    ],
];
const usual = 'the network failed, or a new deployment removed the file: call again, or reload the page';

/**
 * The error of an `import()` that failed. Its engine's message names the address, but in WebKit.
 *
 * @param {any} cause what is an error of ours already is returned
 */
export function importFailure(cause) {
    if (cause instanceof TabacusError) return cause;
    const text = String(cause?.message ?? cause);
    const cure = cures.find(([pattern]) => pattern.test(text))?.[1] ?? usual;
    return new TabacusError('unavailable', `a module of the package could not be loaded (${text}): ${cure}`, {
        cause,
    });
}
