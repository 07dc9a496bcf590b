/** Names the functions that a piece imports, in its binary. */

import { decoded, encoded, withSection } from './leb128.js';

/** The module that the functions are imported from, as WebAssembly writes its name. */
const imported = '\x09functions';

/** The same module in the file: it is named once for each function, and js/core/program.js provides it. */
const shortModule = 'f';

const importSection = 2;

/** A text, with its length before it. @param {string} text */
const named = (text) => [...encoded(text.length), ...Buffer.from(text)];

/**
 * Names each function that a module imports by an index by the distance from the index before it, which is often the
 * same number and so compresses well. A module gets its imports in their order (WebAssembly JavaScript Interface, "read
 * the imports"). The names must be unique while tools work on the module, since some tools join imports of one name.
 *
 * @param {Buffer} module a module whose imports of `functions`, if it has any, follow one another
 * @returns {Buffer}
 */
export const nameByDistance = (module) => withSection(module, importSection, shortened);

/** @param {Buffer} section the imports @returns {number[]} */
function shortened(section) {
    let at = section.indexOf(imported);
    if (at < 0) return [...section];
    const bytes = [...section.subarray(0, at)];
    for (let before = 0; section.indexOf(imported, at) === at;) {
        const begin = at + imported.length + 1;
        const name = begin + (section[begin - 1] ?? 0);
        const index = Number(section.subarray(begin, name).toString());
        const [, end] = decoded(section, name + 1); // behind the kind, which is 0, and the type
        bytes.push(...named(shortModule), ...named(String(index - before)), ...section.subarray(name, end));
        [before, at] = [index, end];
    }
    return [...bytes, ...section.subarray(at)];
}
