/**
 * Asserts what attach.wasm must not have. It is instantiated over a memory that other threads already use: a
 * data segment or a start function would write into what is theirs, a table would call nothing of ours, and an
 * import other than the memory could not be given.
 */

import { readFileSync } from 'node:fs';
import { Failure } from './failure.js';

/** The sections it must not have, by their numbers in the binary format. */
const FORBIDDEN = new Map([
    [4, 'a table'],
    [8, 'a start function'],
    [9, 'table elements'],
    [11, 'a data segment'],
]);

/** @param {string} path */
export function checkAttach(path) {
    const bytes = readFileSync(path);
    const bad = sections(bytes).flatMap((id) => FORBIDDEN.get(id) ?? []);
    const module = new WebAssembly.Module(bytes);
    for (const { name, kind } of WebAssembly.Module.imports(module))
        if (kind !== 'memory') bad.push(`an import of ${kind} ${name}`);
    if (!WebAssembly.Module.exports(module).some(({ name }) => name === '__stack_pointer'))
        bad.push('no exported __stack_pointer');
    if (bad.length > 0)
        throw new Failure(`${path} must attach to a living memory, but has ${bad.join(', ')}`);
}

/**
 * The numbers of the sections of a module, in order.
 * @param {Uint8Array} bytes
 */
export function sections(bytes) {
    const ids = [];
    for (let at = 8; at < bytes.length;) {
        ids.push(/** @type {number} */ (bytes[at]));
        const [size, next] = leb128(bytes, at + 1);
        at = next + size;
    }
    return ids;
}

/**
 * An unsigned number of the binary format, and where it ends.
 * @param {Uint8Array} bytes
 * @param {number} at
 * @returns {[value: number, next: number]}
 */
function leb128(bytes, at) {
    let value = 0;
    for (let shift = 0; ; shift += 7) {
        const byte = /** @type {number} */ (bytes[at++]);
        value |= (byte & 0x7f) << shift;
        if (byte < 0x80) return [value >>> 0, at];
    }
}
