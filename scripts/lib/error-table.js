/**
 * Writes docs/errors.md from the code. bridge/errors.js describes each error code; the messages are collected from the
 * JavaScript and C++ that raises them.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errors, platformErrors } from '../../bridge/errors.js';
import { Failure } from './failure.js';
import { repository } from './paths.js';
import { sources } from './sources.js';

export const ERRORS_FILE = join(repository, 'docs/errors.md');

/** The sign for a part of a message that is an expression without a plain name. */
const GAP = '…';

/** The text that stands for a variable in a message. @param {string} name */
const placeholder = (name) => `<${name.replace(/^_+|_+$/g, '')}>`;

/** The errors of the platform for which C++ has codes. @type {Record<string, string>} */
const PLATFORM_CODES = platformErrors;

/**
 * The meaning of the platform's own errors in this package.
 *
 * @type {Record<string, { when: string, action: string }>}
 */
const PLATFORM_ERRORS = {
    AbortError: {
        when: 'The signal that was passed has aborted. Its reason is the error.',
        action: 'Nothing: the caller asked for it.',
    },
    TimeoutError: {
        when: 'The `timeout` that was passed has ended.',
        action: 'Try again later, or pass a longer timeout.',
    },
    NotSupportedError: {
        when: 'Two options exclude each other (Web Locks API).',
        action: 'Leave one of them out.',
    },
    DataCloneError: {
        when: 'A value contains something that cannot be cloned for storage.',
        action: 'Pass plain data.',
    },
    SecurityError: {
        when: 'The platform forbids storage here: a sandboxed frame, or blocked site data.',
        action: 'Call from a document of an ordinary origin.',
    },
    InvalidStateError: {
        when: 'The document is not fully active: its tab or frame is closed.',
        action: 'Call from a document whose tab or frame is open.',
    },
};

/** @typedef {{ code: string, message: string }} Raised */

/** @param {string} path */
const read = (path) => readFileSync(join(repository, path), 'utf8');

/**
 * The text that stands for an expression in a message: `<value>` for `show(value)` and for `this.value`.
 *
 * @param {any} node
 * @returns {string}
 */
function partOf(node) {
    switch (node?.type) {
        case 'Identifier':
        case 'PrivateIdentifier':
            return placeholder(node.name);
        case 'MemberExpression':
            return node.computed ? GAP : partOf(node.property);
        case 'CallExpression':
            return node.callee.name === 'show' ? partOf(node.arguments[0]) : GAP;
        case 'LogicalExpression':
            return node.operator === '&&' ? (textsOf(node.right)[0] ?? GAP) : GAP;
        default:
            return GAP;
    }
}

/**
 * The messages that an expression of JavaScript can be, with a placeholder for each expression in them.
 *
 * @param {any} node
 * @returns {string[]}
 */
function textsOf(node) {
    switch (node?.type) {
        case 'Literal':
            return [String(node.value)];
        case 'TemplateLiteral': {
            const [first, ...others] = node.quasis.map((/** @type {any} */ part) => part.value.cooked);
            const rest = others.map(
                (/** @type {string} */ text, /** @type {number} */ i) => partOf(node.expressions[i]) + text,
            );
            return [[first, ...rest].join('')];
        }
        case 'ConditionalExpression':
            return [...textsOf(node.consequent), ...textsOf(node.alternate)];
        case 'BinaryExpression':
            if (node.operator !== '+') return [];
            return textsOf(node.left).flatMap((left) => textsOf(node.right).map((right) => left + right));
        default:
            return [];
    }
}

/**
 * The code and the messages that a `new …Error(…)` or `invalid(…)` raises.
 * @param {any} node
 * @returns {Raised[]}
 */
function raisedBy({ callee, arguments: given }) {
    const [first, second, third] = given;
    const all = (/** @type {string} */ code, /** @type {any} */ node) =>
        textsOf(node).map((message) => ({ code, message }));
    switch (callee.name) {
        case 'TabacusError':
            return textsOf(first).flatMap((code) => all(code, second));
        case 'TabacusRangeError':
            return all('out-of-range', first);
        case 'DeadlockError':
            return all('deadlock', first);
        case 'DOMException':
            return textsOf(second).flatMap((code) => all(code, first));
        case 'invalid': {
            const [name = partOf(first)] = textsOf(first);
            return textsOf(third).map((allowed) => ({
                code: 'invalid-argument',
                message: `${name} must be ${allowed}, not ${placeholder('value')}`,
            }));
        }
        default:
            return [];
    }
}

/** @returns {Promise<Raised[]>} */
async function raisedInJavaScript() {
    const { parse } = await import('acorn');
    const { full } = await import('acorn-walk');
    /** @type {Raised[]} */
    const raised = [];
    // The emulator and the compatible locks raise the platform's errors in the platform's words.
    const other = /^js\/(?:emulator\/(?!origin-options)|(?:platform|compat)\/)/;
    for (const path of sources('js/**.js').filter((one) => !other.test(one))) {
        full(parse(read(path), { ecmaVersion: 'latest', sourceType: 'module' }), (node) => {
            if (/^(New|Call)Expression$/.test(node.type)) raised.push(...raisedBy(node));
        });
    }
    return raised;
}

/**
 * The messages that a C++ expression can be: its string literals up to the bracket that closes around it, with one
 * message for each alternative of `?:`.
 * @param {string} source
 * @returns {string[]}
 */
function literalsOf(source) {
    const tokens = source.match(/"(?:[^"\\]|\\.)*"|::|->|\s+|\w+|[^"]/g) ?? [];
    /** @type {string[]} */
    const texts = [];
    let text = '';
    let expression = '';
    let depth = 0;
    const endExpression = () => {
        const [, name] = /^(?:\w+(?:\.|->))*(\w+)$/.exec(expression) ?? [];
        if (name && !/^\d/.test(name)) text += placeholder(name);
        else if (/\w/.test(expression)) text += GAP;
        expression = '';
    };
    const endText = () => {
        endExpression();
        texts.push(text);
        text = '';
    };
    for (const token of tokens) {
        if ('([{'.includes(token)) ++depth;
        if (')]}'.includes(token) && --depth < 0) break;
        if (token === ';') break;
        if (token.startsWith('"')) {
            endExpression();
            text += JSON.parse(token);
        } else if (token === '?') {
            expression = text = '';
        } else if (token === ':') {
            endText();
        } else if (token === ',' || token === '+') {
            endExpression();
        } else if (expression === 'concat' && token === '(') {
            expression = '';
        } else if (/[^\s{}]/.test(token)) {
            expression += token;
        }
    }
    endText();
    return texts.filter((one) => /\w/.test(one.replace(/<\w+>/g, '')));
}

/** @returns {Raised[]} */
function raisedInCpp() {
    const raising =
        /(?:\bfail\(|\bError(?: \w+)?\(|\breturn \{|\bend\(\w+, |\brefuse\(\w+, Error\()ErrorCode::(\w+),\s*/g;
    return sources('wasm/src/protocol/**.cpp', 'wasm/src/protocol/**.hpp', 'wasm/src/browser/**.cpp').flatMap(
        (path) => {
            const source = read(path);
            return [...source.matchAll(raising)].flatMap((match) => {
                const code = String(match[1]).replaceAll('_', '-');
                return literalsOf(source.slice(match.index + match[0].length)).map((message) => ({
                    code: PLATFORM_CODES[code] ?? code,
                    message,
                }));
            });
        },
    );
}

/** Makes a code span of Markdown. @param {string} text */
const codeSpan = (text) => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``).replaceAll('\n', ' ');

/** Escapes a text for a cell of a Markdown table. @param {string} text */
const cell = (text) => text.replaceAll('|', '\\|').replaceAll('\n', ' ');

/** @returns {Promise<string>} the document */
export async function errorTable() {
    const codes = new Map(Object.entries(errors));
    const raised = [...(await raisedInJavaScript()), ...raisedInCpp()];
    const unknown = raised.find(({ code }) => !codes.has(code) && !PLATFORM_ERRORS[code]);
    if (unknown) throw new Failure(`bridge/errors.js lacks the code "${unknown.code}", which a message has`);
    const sections = [...codes, ...Object.entries(PLATFORM_ERRORS)].map(([code, { when, action }]) => {
        const messages = [
            ...new Set(raised.filter((one) => one.code === code).map((one) => one.message)),
        ].sort();
        const list = messages.map((message) => `- ${codeSpan(message)}`).join('\n');
        return `## ${code}\n\n**When:** ${when}\n\n**What to do:** ${action}\n${list && `\nMessages that its source spells out:\n\n${list}\n`}`;
    });
    const rows = [...codes, ...Object.entries(PLATFORM_ERRORS)].map(
        ([code, { when, action }]) =>
            `| [\`${code}\`](#${code.toLowerCase()}) | ${cell(when)} | ${cell(action)} |`,
    );
    return `# Errors

Every error that tabacus itself raises is a \`TabacusError\` with a \`code\`; \`TabacusRangeError\` is a \`RangeError\` as
well. Aborts and timeouts are the platform's own \`AbortError\` and \`TimeoutError\`. An \`invalid-argument\` error also has
\`argument\`, \`value\` and \`allowed\`; a \`deadlock\` error is a \`DeadlockError\`. \`npm run format\` writes this page from the
code; \`<name>\` and \`${GAP}\` stand for what a message fills in.

| code | when | what to do |
| --- | --- | --- |
${rows.join('\n')}

${sections.join('\n')}`;
}
