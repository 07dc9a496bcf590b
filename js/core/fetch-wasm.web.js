/** Bytes and modules from an address. */

/**
 * A module from beside the package's modules. The response is compiled as it arrives where the server names its
 * type; elsewhere, and where that is missing, all of it is fetched first.
 *
 * @param {URL} address
 * @returns {Promise<WebAssembly.Module>}
 */
export async function compileFrom(address) {
    try {
        return await WebAssembly.compileStreaming(fetch(address));
    } catch {
        return WebAssembly.compile(await fetchBytes(address));
    }
}

/**
 * @param {string | URL} address
 * @returns {Promise<BufferSource>}
 */
export async function fetchBytes(address) {
    const response = await fetch(address);
    if (!response.ok) throw new Error(`${response.status} ${response.url}`);
    return response.arrayBuffer();
}
