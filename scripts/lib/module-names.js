/**
 * The names under which a primary module exports what its secondary modules import. Those that wasm-split chooses come
 * in no order; in the order of the functions they take half of the space in transit.
 */

import { declared, name } from './program-text.js';

/** How the names begin that wasm-split gives, so that they are told from the program's own exports. */
export const splitPrefix = '%';

const exported = new RegExp(`^ \\(export "(${splitPrefix}[^"]*)" \\((func|global) ${name}\\)\\)$`);
const imported = /^ \(import "primary" "([^"]*)"/;

/**
 * @param {string[]} modules texts: of the primary module, with its functions in their order, and of the others
 * @returns {string[]} with other names
 */
export function renameExports([primary = '', ...secondary]) {
    const lines = primary.split('\n');
    const positions = new Map(lines.map((line, i) => [declared.exec(line)?.[1], i]));
    const own = lines.filter((line) => exported.test(line));
    const place = (/** @type {string} */ line) => positions.get(exported.exec(line)?.[3]) ?? -1;
    own.sort((a, b) => place(a) - place(b));
    /** @type {Map<string, string>} */
    const names = new Map(
        own.map((line, i) => [exported.exec(line)?.[1] ?? '', i.toString(36).padStart(2, '0')]),
    );
    const renamed = own.map((line) => line.replace(/"[^"]*"/, (name) => `"${names.get(name.slice(1, -1))}"`));
    const at = lines.findIndex((line) => exported.test(line));
    const rest = lines.filter((line) => !exported.test(line));
    rest.splice(at < 0 ? rest.length : at, 0, ...renamed);
    return [rest.join('\n'), ...secondary.map((text) => renameImports(text, names))];
}

/** @param {string} text @param {Map<string, string>} names */
function renameImports(text, names) {
    const lines = text.split('\n').map((line) => {
        const name = names.get(imported.exec(line)?.[1] ?? '');
        return name === undefined ? line : line.replace(imported, ` (import "primary" "${name}"`);
    });
    const at = lines.findIndex((line) => imported.test(line) && / \(func /.test(line));
    const isFunction = (/** @type {string} */ line) => imported.test(line) && / \(func /.test(line);
    const sorted = lines.filter(isFunction).sort();
    const rest = lines.filter((line) => !isFunction(line));
    if (at >= 0) rest.splice(at, 0, ...sorted);
    return rest.join('\n');
}
