/** Interfaces and functions of the host, if it has them, whose results are delivered on the schedule. */

import { compressionInterface } from './compression-streams.js';
import { fetchOf } from './fetch.js';
import { tracked } from './host-work.js';
import { BODY_INTERFACES } from './body-interfaces.js';
import { webAssemblyOf } from './web-assembly.js';

/** @typedef {import('../context.js').Context} Context */

/** @type {Record<string, (context: Context) => unknown>} */
const INTERFACES = {
    ...BODY_INTERFACES,
    CompressionStream: compressionInterface('CompressionStream'),
    DecompressionStream: compressionInterface('DecompressionStream'),
    WebAssembly: webAssemblyOf,
    fetch: fetchOf,
    createImageBitmap: (context) => imageBitmapOf(context),
};

/** @param {Context} context */
function imageBitmapOf(context) {
    const { createImageBitmap: host } = /** @type {any} */ (globalThis);
    /** @param {any[]} given */
    const createImageBitmap = async (...given) =>
        tracked(context, host.apply(globalThis, given), 'createImageBitmap()');
    return Object.defineProperty(createImageBitmap, 'length', { value: 1 });
}

/** Returns the interfaces and functions that the host has, by their names. */
export const hostInterfaces = () =>
    Object.fromEntries(Object.entries(INTERFACES).filter(([name]) => name in globalThis));

/** Whether a property is one of them. @param {string} name */
export const isHosted = (name) => Object.hasOwn(INTERFACES, name);
