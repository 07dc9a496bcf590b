/** `npx tabacus preload`: prints elements for a page's head that request the files of the package at once. */

/** The files of each feature beside the first page's. @type {Record<string, string[]>} */
const filesOf = {
    locks: ['locks.js', 'locks.wasm'],
    leader: ['locks.js', 'locks.wasm', 'leader.wasm'],
    queue: ['locks.js', 'locks.wasm', 'queue.js', 'queue.wasm'],
    limits: ['locks.js', 'locks.wasm', 'limits.js', 'limits.wasm'],
    catalogue: ['locks.js', 'locks.wasm', 'catalogue.js', 'catalogue.wasm'],
};

export const features = Object.keys(filesOf);

/**
 * @param {string[]} wanted features that the page uses besides counters
 * @param {string} base the address of the folder with the files
 * @returns {string[]} elements of HTML
 */
export function preloadLinks(wanted, base) {
    const files = ['tabacus.js', 'counters.wasm', ...wanted.flatMap((feature) => filesOf[feature] ?? [])];
    const folder = base.endsWith('/') || base === '' ? base : `${base}/`;
    return [...new Set(files)].map((file) => {
        const href = `${folder}${file}`.replaceAll('&', '&amp;').replaceAll('"', '&quot;');
        // What the page fetches is used only if the request is made as fetch() makes it (Preload, §2).
        return file.endsWith('.js')
            ? `<link rel="modulepreload" href="${href}">`
            : `<link rel="preload" as="fetch" type="application/wasm" crossorigin href="${href}">`;
    });
}
