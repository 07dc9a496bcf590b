/** Helpers over the types and calls that bridge/ describes, for the writers of the C++ and the JavaScript side. */

import { enums, records } from '../../bridge/types.js';

/**
 * The name in camel case, in which a unit at the end keeps its underscore: `lease_ms`.
 *
 * @param {string} name in snake case
 */
export const camel = (name) =>
    name.replace(/_(?!(ms|us)$)([a-z0-9])/g, (_, __, letter) => letter.toUpperCase());

/** The name in snake case. @param {string} name in camel case */
export const snake = (name) => name.replace(/(?<!^)[A-Z]/g, (letter) => `_${letter}`).toLowerCase();

/** The name in JavaScript of the table of an enumeration's names. @param {string} name */
export const namesOf = (name) => `${name[0]?.toLowerCase()}${name.slice(1)}Names`;

/** Names the documents to which a text links, since JSDoc has no links to them. @param {string} text */
export const withoutLinks = (text) => text.replace(/\[(.+?)\]\((.+?)\)/g, '$1: docs/$2');

/** The container and the element of a type: 'list' and 'text' for `list<text>`. @param {string} type */
export function parsed(type) {
    const [, of = type, inner = ''] = /^(list|set|bits)<(.+)>$/.exec(type) ?? [];
    return { of, inner };
}

/** The enumeration of a name, with its name in C++; nothing if there is none. @param {string} name */
export function enumOf(name) {
    const found = enums[name];
    return found && { cpp: name, ...found };
}

/** The record of a name, with its name in C++; nothing if there is none. @param {string} name */
export function recordOf(name) {
    const found = records[name];
    return found && { cpp: name, ...found };
}

/**
 * The enumerators: names in C++ and JavaScript, number.
 *
 * @param {string} name
 * @returns {[cpp: string, js: string, number: number][]}
 */
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

/** Whether a value of the type is one number in wasm, so that it need not be packed. @param {string} type */
export const isNumber = (type) =>
    ['int', 'int64', 'number', 'number?', 'bool'].includes(type) ||
    ['set', 'bits'].includes(parsed(type).of) ||
    type in enums;

/**
 * All enumerations and records that a type names, directly or in a field of another.
 *
 * @param {string} type
 * @returns {string[]}
 */
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
 * The name of the object in the program on which an export is called, as a list: empty if that is a parameter.
 *
 * @param {string} target
 */
export const ownerOf = (target) => ['core', 'coordination'].filter((owner) => target.startsWith(`${owner}.`));

/** The classes of the objects that exports are called on. @type {Record<string, string>} */
export const owners = { core: 'TabCore', coordination: 'CoordinationCore' };

/**
 * The name of the method or the property of the host that a call uses.
 *
 * @param {import('../../bridge/host.js').HostCall} call
 */
export const hostMethod = ({ name, method }) => camel(method ?? name.replace(/^[^_]*_/, ''));

/**
 * The C++ function that an export calls, with its class.
 *
 * @param {import('../../bridge/exports.js').ExportedCall} call
 */
export function calledFunction({ target, params = {} }) {
    const path = target.split('.');
    const [receiver, method = ''] = path.slice(-2);
    if (receiver === undefined || path.length === 1) return target;
    const type = owners[receiver] ?? params[receiver]?.replace('&', '');
    if (type) return `${type}::${method}`;
    const part = receiver.replace('()', '');
    return `${part[0]?.toUpperCase()}${part.slice(1)}${path.length === 3 ? 'Core' : ''}::${method}`;
}
