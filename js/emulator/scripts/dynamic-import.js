/** Dynamic imports in the scripts of a tab: their promises are settled on the schedule. */

import { tracked } from '../host/host-work.js';
import { tokensOf } from './lexer.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('./lexer.js').Token} Token */
/** @typedef {import('./analysis.js').Edit} Edit */

/** The function that replaces `import` in calls. No script uses its name itself. */
export const importName = '__tabacus_import';

/** @param {readonly Token[]} tokens @param {number} open the index of a bracket @returns {Token | undefined} */
function afterBrackets(tokens, open) {
    const depth = tokens[open]?.depth;
    let at = open + 1;
    while (at < tokens.length && tokens[at]?.depth !== depth) ++at;
    return tokens[at + 1];
}

/**
 * The edits that replace `import` where it is called. A method of that name stays (`{ import() {} }`), and a call of one
 * (`object.import()`).
 *
 * @param {readonly Token[]} tokens
 * @returns {Edit[]}
 */
export const importEdits = (tokens) =>
    tokens.flatMap(({ kind, text, member, at, end }, index) =>
        kind === 'name' &&
        text === 'import' &&
        !member &&
        tokens[index + 1]?.text === '(' &&
        afterBrackets(tokens, index + 1)?.text !== '{'
            ? [{ at, end, text: importName }]
            : [],
    );

/**
 * Applies edits to a text. The line breaks of a replaced range stay, so that the line numbers do.
 *
 * @param {string} source
 * @param {Edit[]} edits
 */
export function edited(source, edits) {
    edits.sort((one, other) => one.at - other.at);
    let text = '';
    let from = 0;
    for (const edit of edits) {
        text +=
            source.slice(from, edit.at) + edit.text + source.slice(edit.at, edit.end).replace(/[^\n]+/g, '');
        from = edit.end;
    }
    return text + source.slice(from);
}

/** The text of a function with tracked imports. @param {string} text */
export const withTrackedImports = (text) =>
    /\bimport\b/.test(text) ? edited(text, importEdits(tokensOf(text))) : text;

/**
 * The imports of the host, by the number of arguments: not every engine knows a second one.
 *
 * @type {((...given: any[]) => Promise<any>)[]}
 */
const hosted = [];

/**
 * Makes the function that replaces `import` in a script of the context.
 *
 * @param {Context} context
 * @param {(parameters: string[], body: string) => any} compiled makes a function, whose import() is that of the host
 */
export const importerOf = (context, compiled) =>
    async function (/** @type {any[]} */ ...given) {
        const parameters = ['specifier', 'options'].slice(0, Math.max(given.length, 1));
        const load = (hosted[parameters.length] ??= compiled(parameters, `return import(${parameters})`));
        return tracked(context, load(...given), 'import()');
    };
