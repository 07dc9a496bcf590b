/**
 * The glue of one core, from beside the bundled modules: a page loads the core that it uses, and no
 * other. The literal imports are what bundlers look for.
 *
 * @param {'threads' | 'single'} build
 * @returns {Promise<{ default: (options: object) => Promise<any> }>}
 */
export function loadGlue(build) {
    // @ts-ignore: made by the build, and not there when types are checked
    return build === 'threads' ? import('./threads.js') : import('./single.js');
}

/**
 * The wasm beside the bundled modules, fetched while its glue still is on its way.
 *
 * @param {'threads' | 'single'} build
 * @returns {Promise<WebAssembly.Module | undefined>} rejected where the glue, which knows more ways, may still succeed
 */
export function compileBeside(build) {
    return WebAssembly.compileStreaming(
        fetch(
            build === 'threads'
                ? new URL('./threads.wasm', import.meta.url)
                : new URL('./single.wasm', import.meta.url),
        ),
    );
}

/** @param {string | URL} address */
export async function fetchBytes(address) {
    const response = await fetch(address);
    if (!response.ok) throw new Error(`${response.status} ${response.url}`);
    return response.arrayBuffer();
}
