/** The namespace `WebAssembly` of a context. What the host compiles is delivered on the schedule. */

import { tracked } from './host-work.js';

/** @typedef {import('../context.js').Context} Context */

/**
 * The asynchronous operations of the namespace. A module is instantiated by the tab itself, in the task of its delivery,
 * since its imports and its start function are code of the tab.
 *
 * @param {Context} context
 * @param {any} host the namespace of the host
 * @returns {Record<string, (source: any, ...rest: any[]) => Promise<any>>}
 */
function operationsOf(context, host) {
    const compile = (/** @type {string} */ name, /** @type {any} */ bytes, /** @type {any[]} */ rest) =>
        tracked(context, host.compile(bytes, ...rest), `WebAssembly.${name}()`);
    const instantiate = async (/** @type {any} */ module, /** @type {any} */ imports) => {
        try {
            return new host.Instance(module, imports);
        } catch (error) {
            // Chromium refuses large modules on a page.
            if (!/disallowed on the main thread/.test(`${error}`)) throw error;
            return tracked(context, host.instantiate(module, imports), 'WebAssembly.instantiate()');
        }
    };
    return {
        async compile(bytes, ...rest) {
            return compile('compile', bytes, rest);
        },
        async instantiate(source, imports, ...rest) {
            if (source instanceof host.Module) {
                await tracked(context, undefined, 'WebAssembly.instantiate()');
                return instantiate(source, imports);
            }
            const module = await compile('instantiate', source, rest);
            return { module, instance: await instantiate(module, imports) };
        },
        async compileStreaming(source, ...rest) {
            return compile('compileStreaming', await bytesOf(source), rest);
        },
        async instantiateStreaming(source, imports, ...rest) {
            const module = await compile('instantiateStreaming', await bytesOf(source), rest);
            return { module, instance: await instantiate(module, imports) };
        },
    };
}

/** Makes the namespace. @param {Context} context */
export function webAssemblyOf(context) {
    const host = /** @type {any} */ (globalThis.WebAssembly);
    const made = Object.create(Object.getPrototypeOf(host), Object.getOwnPropertyDescriptors(host));
    for (const [name, value] of Object.entries(operationsOf(context, host))) {
        if (!host[name]) continue;
        Object.defineProperty(value, 'length', { value: 1 });
        Object.defineProperty(made, name, { value });
    }
    return made;
}

/**
 * The bytes of a response (WebAssembly Web API §4, "compile a potential WebAssembly response"). They may depend on
 * further events of the tab, so they are no work of the host.
 *
 * @param {unknown} source a response, or a promise of one
 */
async function bytesOf(source) {
    const response = await source;
    if (!(response instanceof Response)) throw new TypeError('WebAssembly: the source is no Response');
    const type = response.headers.get('content-type') ?? '';
    if (type.toLowerCase() !== 'application/wasm')
        throw new TypeError(
            `WebAssembly: the MIME type of the response is '${type}', not 'application/wasm'`,
        );
    if (!response.ok) throw new TypeError(`WebAssembly: the status of the response is ${response.status}`);
    return response.arrayBuffer();
}
