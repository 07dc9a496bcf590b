/** Names the functions that a piece imports, in its binary. */

import { decoded, encoded, withSection } from './leb128.js';

/** The module that the functions are imported from, as WebAssembly writes its name. */
const imported = '\x09functions';

/** Its name in the finished file, which repeats it for each function. js/core/program.js provides the module. */
const shortModule = 'f';

const importSection = 2;

/** A text, with its length before it. @param {string} text */
const named = (text) => [...encoded(text.length), ...Buffer.from(text)];

/**
 * Renames the functions that a module imports. Their names are indices; each name becomes the distance from the index
 * before it. Distances are often the same number, so that they compress well. The names need not be unique, because a
 * module gets its imports in their order (WebAssembly JavaScript Interface, "read the imports"). This is the last step,
 * because some tools join imports of one name.
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
