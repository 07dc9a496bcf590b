/** Analyses a script's text before it runs: what it declares, whether it is a module, and what it exports. */

import { edited, importEdits } from './dynamic-import.js';
import { endsOperand, tokensOf } from './lexer.js';

/** @typedef {import('./lexer.js').Token} Token */

/**
 * @typedef {object} Analysis
 * @property {string} text the text to run, with tracked imports; that of a module is without its exports
 * @property {boolean} module
 * @property {boolean} strict
 * @property {string[]} names the names that it declares by var and function at its outermost level
 * @property {string[]} lexical the names that it declares there by let, const and class
 * @property {Set<string>} asked the names to which it applies typeof, which may be undeclared
 * @property {[string, string][]} exports the exports of a module: the name of each export, and the local name
 */

/** The local names that replace a module's default export and `import.meta`. No script uses these names itself. */
export const hidden = Object.freeze({ exported: '__tabacus_exported', meta: '__tabacus_meta' });

/** The analyses of the latest texts, since tests run one text in many tabs. @type {Map<string, Analysis>} */
const known = new Map();
const knownMax = 100;

/**
 * @param {string} source
 * @param {(source: string) => boolean} isClassic whether it can be compiled as a classic script
 * @returns {Analysis}
 */
export function analysisOf(source, isClassic) {
    const found = known.get(source);
    if (found) return found;
    if (known.size >= knownMax) known.clear();
    const analysis = analyse(source, isClassic);
    known.set(source, analysis);
    return analysis;
}

/** The names to which a source applies typeof, also within strings, which eval() may run. @param {string} source */
export const askedIn = (source) =>
    new Set(
        [...source.matchAll(/\btypeof[\s(]+([\p{ID_Start}$_][\p{ID_Continue}$]*)/gu)].map(
            ([, name]) => /** @type {string} */ (name),
        ),
    );

/** @param {string} source @param {(source: string) => boolean} isClassic @returns {Analysis} */
function analyse(source, isClassic) {
    const tokens = tokensOf(source);
    const outermost = (/** @type {Token} */ one, /** @type {string} */ text) =>
        one.kind === 'name' && one.text === text && !one.member;
    const exports = tokens.some((one) => outermost(one, 'export') && one.depth === 0);
    const awaits = () => tokens.some((one) => outermost(one, 'await') && !one.inner) && !isClassic(source);
    const asked = askedIn(source);
    if (exports || metasOf(tokens).length > 0 || awaits()) {
        return { ...moduleOf(source, tokens), module: true, strict: true, names: [], lexical: [], asked };
    }
    return {
        text: edited(source, importEdits(tokens)),
        module: false,
        strict: isStrict(tokens),
        ...declaredIn(tokens),
        asked,
        exports: [],
    };
}

/** Whether the Directive Prologue has "use strict" (§11.2.1). @param {readonly Token[]} tokens */
function isStrict(tokens) {
    for (let at = 0; tokens[at]?.kind === 'string'; at += tokens[at + 1]?.text === ';' ? 2 : 1) {
        if (/^(['"])use strict\1$/.test(tokens[at]?.text ?? '')) return true;
    }
    return false;
}

/** @param {readonly Token[]} tokens */
function declaredIn(tokens) {
    /** @type {Set<string>} */
    const names = new Set();
    /** @type {Set<string>} */
    const lexical = new Set();
    const add = (/** @type {Set<string>} */ set, /** @type {readonly string[]} */ more) =>
        more.forEach((name) => set.add(name));
    for (const [at, { kind, text, inner, member, depth }] of tokens.entries()) {
        if (kind !== 'name' || inner || member) continue;
        if (text === 'var') add(names, bindings(tokens, at + 1));
        else if (text === 'function')
            add(names, nameAt(tokens, tokens[at + 1]?.text === '*' ? at + 2 : at + 1));
        else if (depth === 0 && text === 'class')
            add(lexical, beginsStatement(tokens, at) ? nameAt(tokens, at + 1) : []);
        else if (depth === 0 && (text === 'let' || text === 'const')) add(lexical, bindings(tokens, at + 1));
    }
    return { names: [...names], lexical: [...lexical] };
}

/** @param {readonly Token[]} tokens @param {number} at */
const nameAt = (tokens, at) => (tokens[at]?.kind === 'name' ? [/** @type {Token} */ (tokens[at]).text] : []);

/** @param {readonly Token[]} tokens @param {number} at */
function beginsStatement(tokens, at) {
    const before = tokens[at - 1];
    return (
        !before ||
        before.text === ';' ||
        before.text === '}' ||
        (endsOperand(before) && Boolean(tokens[at]?.newline))
    );
}

/**
 * The names of one declaration.
 *
 * @param {readonly Token[]} tokens
 * @param {number} from the index behind its keyword
 * @returns {string[]}
 */
function bindings(tokens, from) {
    const names = [];
    for (let at = from; ; ++at) {
        const first = tokens[at];
        if (first?.text === '{' || first?.text === '[') {
            const end = closing(tokens, at);
            names.push(...boundIn(tokens, at, end));
            at = end;
        } else if (first?.kind === 'name') names.push(first.text);
        else return names;
        at = endOfInitializer(tokens, at + 1, first.depth);
        if (tokens[at]?.text !== ',') return names;
    }
}

/**
 * @param {readonly Token[]} tokens
 * @param {number} open the index of a bracket
 * @returns {number} the index of the bracket that closes it
 */
function closing(tokens, open) {
    const depth = tokens[open]?.depth ?? 0;
    let at = open + 1;
    while (at < tokens.length && tokens[at]?.depth !== depth) ++at;
    return at;
}

/**
 * The names that a pattern binds, without those in its defaults.
 *
 * @param {readonly Token[]} tokens
 * @param {number} open
 * @param {number} close
 */
function boundIn(tokens, open, close) {
    const names = [];
    for (let at = open + 1; at < close; ++at) {
        const { kind, text, depth } = /** @type {Token} */ (tokens[at]);
        const last = text === '[' ? closing(tokens, at) : at;
        // `a` of { a: b } and [a] of { [a]: b } are keys.
        const isKey = tokens[last + 1]?.text === ':';
        if (kind === 'name' && !isKey) names.push(text);
        else if (text === '[' && isKey) at = last;
        else if (text === '=') at = endOfInitializer(tokens, at, depth) - 1;
    }
    return names;
}

/**
 * @param {readonly Token[]} tokens
 * @param {number} from
 * @param {number} depth
 * @returns {number} the index behind it: of a comma, or of the end of the statement (also without a semicolon,
 *   §12.10) or of the surrounding brackets
 */
function endOfInitializer(tokens, from, depth) {
    for (let at = from; at < tokens.length; ++at) {
        const token = /** @type {Token} */ (tokens[at]);
        if (token.depth < depth || (token.depth === depth && (token.text === ',' || token.text === ';')))
            return at;
        const before = tokens[at - 1];
        // A bracket that closes at its depth ends an expression, whichever kind it is.
        if (token.depth > depth || !token.newline || !(endsOperand(before) || before?.text === '}')) continue;
        const continues =
            token.kind === 'name'
                ? token.text === 'in' || token.text === 'instanceof'
                : token.kind === 'punctuator' && !['{', '++', '--'].includes(token.text);
        if (!continues && token.kind !== 'template') return at;
    }
    return tokens.length;
}

/** Where `import.meta` is. @param {readonly Token[]} tokens @returns {number[]} */
const metasOf = (tokens) =>
    tokens.flatMap(({ text, kind, member }, at) =>
        kind === 'name' &&
        text === 'import' &&
        !member &&
        tokens[at + 1]?.text === '.' &&
        tokens[at + 2]?.text === 'meta'
            ? [at]
            : [],
    );

/** A range of a text, and the text that replaces it. @typedef {{ at: number, end: number, text: string }} Edit */

/**
 * The text of a module without its exports, and the local names of its exports, which are read when they are used.
 *
 * @param {string} source
 * @param {readonly Token[]} tokens
 */
function moduleOf(source, tokens) {
    /** @type {[string, string][]} */
    const exports = [];
    /** @type {Edit[]} */
    const edits = metasOf(tokens).map((at) => ({
        at: tokens[at]?.at ?? 0,
        end: tokens[at + 2]?.end ?? 0,
        text: hidden.meta,
    }));
    for (const [at, { kind, text, depth, member }] of tokens.entries()) {
        if (kind === 'name' && text === 'export' && depth === 0 && !member)
            edits.push(...exportAt(tokens, at, exports));
    }
    return { text: edited(source, [...edits, ...importEdits(tokens)]), exports };
}

/** @param {readonly Token[]} tokens @param {number} at @param {[string, string][]} exports @returns {Edit[]} */
function exportAt(tokens, at, exports) {
    const first = /** @type {Token} */ (tokens[at]);
    const second = tokens[at + 1];
    const alone = [{ at: first.at, end: first.end, text: '' }];
    if (second?.text === '{') return listAt(tokens, at, exports);
    if (second?.text === 'default') return defaultAt(tokens, at, exports);
    if (second?.text === '*') return []; // an export of another module stays, so that the engine reports it
    if (second?.text === 'const' || second?.text === 'let' || second?.text === 'var') {
        exports.push(
            ...bindings(tokens, at + 2).map((name) => /** @type {[string, string]} */ ([name, name])),
        );
    } else {
        const name = declarationAt(tokens, at + 1)?.name;
        if (name) exports.push([name, name]);
    }
    return alone;
}

/**
 * export { a, b as c, d as "e" };
 *
 * @param {readonly Token[]} tokens
 * @param {number} at
 * @param {[string, string][]} exports
 * @returns {Edit[]}
 */
function listAt(tokens, at, exports) {
    const close = closing(tokens, at + 1);
    if (tokens[close + 1]?.text === 'from' && tokens[close + 2]?.kind === 'string') return []; // as for `export *`
    for (let i = at + 2; i < close; ++i) {
        const local = /** @type {Token} */ (tokens[i]);
        const called = tokens[i + 1]?.text === 'as' ? tokens[(i += 2)] : local;
        exports.push([
            called?.kind === 'string' ? called.text.slice(1, -1) : (called?.text ?? ''),
            local.text,
        ]);
        if (tokens[i + 1]?.text === ',') ++i;
    }
    return [{ at: tokens[at]?.at ?? 0, end: tokens[close]?.end ?? 0, text: ';' }];
}

/**
 * @param {readonly Token[]} tokens
 * @param {number} at
 * @returns {{ name: string | undefined, body: number } | undefined} of a function or a class
 */
function declarationAt(tokens, at) {
    const start =
        tokens[at]?.text === 'async' && tokens[at + 1]?.text === 'function' && !tokens[at + 1]?.newline
            ? at + 1
            : at;
    const { text = '', depth = 0 } = tokens[start] ?? {};
    if (text !== 'function' && text !== 'class') return undefined;
    const named = tokens[start + 1]?.text === '*' ? start + 2 : start + 1;
    const name =
        tokens[named]?.kind === 'name' && tokens[named]?.text !== 'extends' ? tokens[named]?.text : undefined;
    // The heritage of a class has no brace of this depth: `class extends mixin({}) {}`.
    let body = start + 1;
    while (body < tokens.length && !(tokens[body]?.text === '{' && tokens[body]?.depth === depth)) ++body;
    return { name, body };
}

/** @param {readonly Token[]} tokens @param {number} at @param {[string, string][]} exports @returns {Edit[]} */
function defaultAt(tokens, at, exports) {
    const [first, keyword] = /** @type {[Token, Token]} */ ([tokens[at], tokens[at + 1]]);
    const declaration = declarationAt(tokens, at + 2);
    if (declaration?.name) {
        exports.push(['default', declaration.name]);
        return [{ at: first.at, end: keyword.end, text: '' }];
    }
    const edits = [{ at: first.at, end: keyword.end, text: `${hidden.exported}.default =` }];
    const last = declaration && tokens[closing(tokens, declaration.body)];
    // A declaration ends without a semicolon, but the assignment that replaces it needs one.
    return last ? [...edits, { at: last.end, end: last.end, text: ';' }] : edits;
}
