/**
 * Checks that no class of the protocols has more than 15 fields or 30 methods. A class that has more is several
 * classes: each of them deserves a header and a table of its states.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.js';
import { repository } from './paths.js';
import { sources } from './sources.js';

const FIELDS_MAX = 15;
const METHODS_MAX = 30;

/** @typedef {{ name: string, fields: number, methods: number }} ClassSize */

/** What a reader of C++ skips: comments, texts, lines of the preprocessor, attributes, and the like. */
const NOISE = [
    /\/\/[^\n]*|\/\*.*?\*\//gs,
    /^\s*#(?:[^\n]*\\\n)*[^\n]*/gm,
    /\bR"(\w*)\(.*?\)\1"/gs,
    /"(?:\\.|[^"\\\n])*"|(?<!\w)'(?:\\.|[^'\\\n])*'/g,
    /\[\[.*?\]\]/gs,
    /\b(?:alignas|__attribute__)\s*\((?:[^()]|\([^()]*\))*\)/g,
];

/** Stands for `::`, so that each colon that is left is one of another kind. */
const QUALIFIER = '$';

/** @param {string} source */
function withoutNoise(source) {
    const text = NOISE.reduce((rest, noise) => rest.replace(noise, ' '), source);
    return text
        .replace(/\boperator\s*(?:\(\s*\)|[^\w\s(]+)/g, 'operator_symbol')
        .replaceAll('->', '  ')
        .replaceAll('::', QUALIFIER);
}

const CLOSING = { '(': ')', '[': ']', '{': '}', '<': '>' };

/**
 * The index behind the bracket that closes the one at `open`. Only the brackets that may stand within it count: `<` and
 * `>` may be operators within parentheses and braces.
 * @param {string} text
 * @param {number} open
 */
function behindBracket(text, open) {
    const closers = /** @type {string[]} */ ([]);
    for (let at = open; at < text.length; ++at) {
        const sign = /** @type {keyof typeof CLOSING} */ (text[at]);
        const angled = closers.length === 0 || closers.at(-1) === '>';
        if (sign === closers.at(-1)) {
            closers.pop();
            if (closers.length === 0) return at + 1;
        } else if (sign in CLOSING && (sign !== '<' || angled)) {
            closers.push(CLOSING[sign]);
        }
    }
    throw new Failure(`a "${text[open]}" is never closed`);
}

/**
 * One declaration of a namespace or a class: `head` is its text without what is within brackets, of which the signs
 * stay. `body` begins behind the brace of a namespace, a class or an enumeration.
 * @typedef {{ head: string, body?: number, end: number }} Declaration
 */

/** Whether the brace behind `head` opens the body of a function, and not an initializer. @param {string} head */
function isBody(head) {
    if (!head.includes('()') || /[^=!<>]=(?!=)/.test(head)) return false;
    const initializers = /\)[^:]*:(.*)$/s.exec(head);
    return !initializers || /[)}]\s*$/.test(head);
}

/** @param {string} text @param {number} from @returns {Declaration} */
function declarationAt(text, from) {
    let head = '';
    for (let at = from; at < text.length; ++at) {
        const sign = String(text[at]);
        if (sign === ';' || sign === '}') return { head, end: at + 1 };
        if (sign === ':' && /^\s*(?:public|private|protected)\s*$/.test(head)) {
            head = '';
        } else if (sign === '{' && /^\s*(?:extern\s*$|(?:inline\s+)?namespace\b)/.test(head)) {
            return { head, body: at + 1, end: behindBracket(text, at) };
        } else if (sign === '{' && CLASS.test(head) && !head.includes('(')) {
            return { head, body: at + 1, end: behindBracket(text, at) };
        } else if (sign === '{' && isBody(head)) {
            return { head, end: behindBracket(text, at) };
        } else if (sign === '<' ? !head.includes('=') : sign in CLOSING) {
            head += sign + CLOSING[/** @type {keyof typeof CLOSING} */ (sign)];
            at = behindBracket(text, at) - 1;
        } else {
            head += sign;
        }
    }
    return { head, end: text.length };
}

/** The head of the definition of a class, with its name. */
const CLASS = /^\s*(?:template\s*<>\s*)*(?:class|struct|union)\s+([\w$]+)/;

/** Declarations that are neither fields nor methods. Their initializers are cut off. */
const NEITHER = /^\s*(?:$|using\b|friend\b|typedef\b|enum\b|static_assert\b|static\b[^()]*$)/;

/** The end of a function that the compiler writes or refuses. */
const WRITTEN_BY_COMPILER = /=\s*(?:default|delete)\s*$/;

/** Adds a declaration that defines no class to the size of its class. @param {string} head @param {ClassSize} size */
function addMember(head, size) {
    const declared = head.replace(/^\s*(?:template\s*<>\s*)+/, '').replace(/=(?!=).*$/s, '');
    if (NEITHER.test(declared) || WRITTEN_BY_COMPILER.test(head)) return;
    if (declared.includes('()')) ++size.methods;
    else size.fields += declared.split(',').length;
}

/** @param {string} text @param {number} from @param {string} outer @param {ClassSize[]} found */
function sizeScope(text, from, outer, found) {
    const size = { name: outer, fields: 0, methods: 0 };
    for (let at = from; at < text.length && text[at] !== '}';) {
        const { head, body, end } = declarationAt(text, at);
        at = end;
        const name = CLASS.exec(head)?.[1]?.replaceAll(QUALIFIER, '::');
        if (body !== undefined) {
            if (name) found.push(sizeScope(text, body, outer ? `${outer}::${name}` : name, found));
            else sizeScope(text, body, outer, found);
        } else if (!name) {
            addMember(head, size);
        }
        while (/\s/.test(text[at] ?? '')) ++at;
    }
    return size;
}

/**
 * The sizes of all classes that a source defines outside of functions, with their names. Overloads count each, static
 * fields and functions that are `= default` or `= delete` do not.
 * @param {string} source of C++
 * @returns {ClassSize[]}
 */
export function classSizes(source) {
    /** @type {ClassSize[]} */
    const found = [];
    sizeScope(withoutNoise(source), 0, '', found);
    return found;
}

/**
 * Says of each class of a source that is too large how large it is.
 * @param {string} source of C++
 * @returns {string[]}
 */
export function excessiveSizes(source) {
    return classSizes(source)
        .filter(({ fields, methods }) => fields > FIELDS_MAX || methods > METHODS_MAX)
        .map(({ name, fields, methods }) => `${name} has ${fields} fields and ${methods} methods`);
}

/**
 * Checks every class of the protocols.
 * @returns {Promise<void>}
 * @throws {Failure} that names each class that is too large, and what to do
 */
export async function checkClassSizes() {
    const faults = sources('wasm/src/protocol/**', 'wasm/include/tabacus/**')
        .filter((path) => !/\/(?:sync|threads)\//.test(path))
        .flatMap((path) =>
            excessiveSizes(readFileSync(join(repository, path), 'utf8')).map((fault) => `${path}: ${fault}`),
        );
    if (faults.length === 0) return;
    const advice = `a class has at most ${FIELDS_MAX} fields and ${METHODS_MAX} methods: find the objects inside it`;
    throw new Failure(`${faults.join('\n')}\n${advice}`);
}
