/** How the types of bridge/ are written in C++ and in JavaScript, as parameters and packed one after another. */

import { enums, records } from '../../bridge/types.js';

/** @param {string} name in snake case: in camel case, but for a unit at its end */
export const camel = (name) =>
    name.replace(/_(?!(ms|us)$)([a-z0-9])/g, (_, __, letter) => letter.toUpperCase());

/** @param {string} name in camel case: in snake case */
export const snake = (name) => name.replace(/(?<!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();

/** The names of an enumeration in JavaScript. @param {string} name */
export const namesOf = (name) => `${name[0]?.toLowerCase()}${name.slice(1)}Names`;

/** What a type is made of: `list<text>` is ['list', 'text']. @param {string} type */
export function parsed(type) {
    const [, of = type, inner = ''] = /^(list|set|bits)<(.+)>$/.exec(type) ?? [];
    return { of, inner };
}

/** @param {string} name */
export function enumOf(name) {
    const found = enums[name];
    return found && { cpp: name, ...found };
}

/** @param {string} name */
export function recordOf(name) {
    const found = records[name];
    return found && { cpp: name, ...found };
}

/** The number of each enumerator. @param {string} name @returns {[cpp: string, js: string, number: number][]} */
export function numbered(name) {
    const { values = {}, letters } = enums[name] ?? {};
    return Object.entries(values).map(([cpp, js], index) => [
        cpp,
        js,
        letters ? letters.charCodeAt(index) : index,
    ]);
}

/** The fields of a record. @param {string} name @returns {{ js: string, cpp: string, type: string }[]} */
export const fieldsOf = (name) =>
    Object.entries(records[name]?.fields ?? {}).map(([field, spec]) =>
        typeof spec === 'string'
            ? { js: camel(field), cpp: field, type: spec }
            : { js: camel(field), cpp: spec.cpp, type: spec.type },
    );

/** Whether values of the type are numbers of wasm, and are not packed. @param {string} type */
export const isNumber = (type) =>
    ['int', 'int64', 'number', 'number?', 'bool'].includes(type) ||
    ['set', 'bits'].includes(parsed(type).of) ||
    type in enums;

/** All enumerations and records that a type names, also within others. @param {string} type @returns {string[]} */
export function namedIn(type) {
    const { of, inner } = parsed(type);
    if (inner) return namedIn(inner);
    const name = of.replace(/[?&]$/, '');
    if (name in records) return [...fieldsOf(name).flatMap((field) => namedIn(field.type)), name];
    return name in enums ? [name] : [];
}

/** @param {string} type @returns {string} as JSDoc writes it */
export function jsType(type) {
    const { of, inner } = parsed(type);
    if (of === 'list') return inner.includes('?') ? `(${jsType(inner)})[]` : `${jsType(inner)}[]`;
    if (of === 'set') return `${jsType(inner)}[]`;
    if (of === 'bits') return 'number';
    if (type === 'text') return 'string';
    if (type === 'text?') return 'string | null';
    if (type === 'texts') return '(string | null)[]';
    if (type === 'bool') return 'boolean';
    if (type === 'packed') return "import('../packed.js').Unpacker";
    if (type.endsWith('?') && type !== 'number?') return `${jsType(type.slice(0, -1))} | undefined`;
    if (type in enums)
        return [...new Set(Object.values(enums[type]?.values ?? {}))].map((name) => `'${name}'`).join(' | ');
    if (type in records) return type;
    return 'number';
}

/**
 * The object of the program that an export is called on where it is not a parameter: none or one.
 *
 * @param {string} target
 */
export const ownerOf = (target) => ['core', 'coordination'].filter((owner) => target.startsWith(`${owner}.`));
