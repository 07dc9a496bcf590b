/**
 * Asserts that attach.wasm has nothing that it must not have. It is instantiated over a memory that other threads
 * already use: a data segment or a start function would write into their data, a table would be empty, and only the
 * memory is there to be imported.
 */

import { readFileSync } from 'node:fs';
import { Failure } from './failure.js';

/** The sections that it must not have, by their numbers in the binary format (WebAssembly Core §5.5.2). */
const FORBIDDEN = new Map([
    [4, 'a table'],
    [8, 'a start function'],
    [9, 'table elements'],
    [11, 'a data segment'],
]);

/** @param {string} path @throws {Failure} that names everything that the module must not have */
export function checkAttach(path) {
    const bytes = readFileSync(path);
    const bad = sections(bytes).flatMap((id) => FORBIDDEN.get(id) ?? []);
    const module = new WebAssembly.Module(bytes);
    for (const { name, kind } of WebAssembly.Module.imports(module))
        if (kind !== 'memory') bad.push(`an import of ${kind} ${name}`);
    if (!WebAssembly.Module.exports(module).some(({ name }) => name === '__stack_pointer'))
        bad.push('no exported __stack_pointer');
    if (bad.length > 0)
        throw new Failure(`${path} must attach to a memory in use, but has ${bad.join(', ')}`);
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
 * Reads an unsigned number of the binary format (LEB128). Returns it and the offset behind it.
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
