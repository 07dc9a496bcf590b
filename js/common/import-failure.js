import { withinArrival } from './arrival.js';
import { TabacusError } from './errors.js';

/**
 * Makes the error of an `import()` that failed. The message of the engine is part of it, since it names the
 * address (except in WebKit).
 *
 * @param {any} cause an error of tabacus is returned itself
 */
export function importFailure(cause) {
    if (cause instanceof TabacusError) return cause;
    const text = String(cause?.message ?? cause);
    let cure = 'call again, or, after a new deployment, reload the page';
    if (/service ?worker/i.test(text)) cure = "a service worker imports open() of 'tabacus/service-worker'";
    // Gecko keeps a failed import() for the life of the document.
    else if (/^error loading dyn/.test(text))
        cure = 'reload the page: this browser does not load it again before';
    return new TabacusError('unavailable', `a module of the package could not be loaded (${text}): ${cure}`, {
        cause,
    });
}

/**
 * Bounds the wait for an `import()`, and replaces its error by one of tabacus.
 *
 * @template Module
 * @param {Promise<Module>} importing the promise that `import()` has returned
 * @returns {Promise<Module>} rejects with `unavailable`, at the latest after 60 s, unless the package is on the disk
 */
export const imported = (importing) =>
    withinArrival(undefined, importing, Error).catch((cause) => {
        throw importFailure(cause);
    });
