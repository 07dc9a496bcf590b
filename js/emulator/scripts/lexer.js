/** ECMAScript's lexical grammar (§12), as far as it takes to find names and brackets in a text. */

/**
 * @typedef {object} Token
 * @property {'name' | 'string' | 'template' | 'number' | 'regexp' | 'punctuator'} kind of a template: a part between
 *   its substitutions
 * @property {string} text
 * @property {number} at
 * @property {number} end
 * @property {boolean} newline before it
 * @property {number} depth how many brackets are open around it, without itself
 * @property {boolean} inner in a function's body
 * @property {boolean} [member] a name after a dot
 * @property {boolean} [closes] of a closing bracket: what it closes is an expression, or ends one
 */

/** `text`: what opens it; `body`: of a function. @typedef {{ text: string, control: boolean, object: boolean, body: boolean }} Bracket */

const lineEnd = /[\n\r\u2028\u2029]/g;
const space = /\s+/y;
const kinds = /** @type {const} */ ({
    name: /#?[\p{ID_Start}$_][\p{ID_Continue}$\u200C\u200D]*/uy,
    number: /\.?\d[\w.]*(?:(?<=[eE])[+-]\d+)?/y,
    string: /'[^'\\\n]*(?:\\(?:\r\n|[^])[^'\\\n]*)*'|"[^"\\\n]*(?:\\(?:\r\n|[^])[^"\\\n]*)*"/y,
    template: /[`}][^`\\$]*(?:(?:\\[^]|\$(?!\{))[^`\\$]*)*(?:`|\$\{)/y,
    regexp: /\/(?![*/])(?:[^\\/[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[\p{ID_Continue}$]*/uy,
    punctuator: /=>|\.\.\.|\?\.(?!\d)|\+\+|--|(?:\*\*|<<|>>>?|&&|\|\||\?\?|[-+*/%&|^<>=!])={0,2}|[^]/y,
});

/** After these names an operand comes. */
const operators = new Set([
    'await',
    'case',
    'default',
    'delete',
    'do',
    'else',
    'extends',
    'export',
    'in',
    'instanceof',
    'new',
    'of',
    'return',
    'throw',
    'typeof',
    'void',
    'yield',
]);

/** Names before a parenthesis that belongs to their statement. */
const controls = new Set(['catch', 'for', 'if', 'switch', 'while', 'with']);

/** @param {string} source @param {number} from @returns {number} the end of white space and comments */
function afterTrivia(source, from) {
    for (let at = from; ;) {
        const start = at;
        space.lastIndex = at;
        if (space.test(source)) at = space.lastIndex;
        if (source.startsWith('//', at)) at = endOfLine(source, at);
        else if (source.startsWith('/*', at))
            at = source.indexOf('*/', at + 2) < 0 ? source.length : source.indexOf('*/', at + 2) + 2;
        if (at === start) return at;
    }
}

/** @param {string} source @param {number} from */
function endOfLine(source, from) {
    lineEnd.lastIndex = from;
    return lineEnd.exec(source)?.index ?? source.length;
}

/** Is an operand complete after it, so that a slash divides? @param {Token | undefined} token */
export function endsOperand(token) {
    switch (token?.kind) {
        case undefined:
            return false;
        case 'name':
            return Boolean(token.member) || !operators.has(token.text);
        case 'template':
            return token.text.endsWith('`');
        case 'punctuator':
            return token.closes ?? (token.text === '++' || token.text === '--');
        default:
            return true;
    }
}

/** @param {Token | undefined} before an opening brace @param {Bracket | undefined} around @returns {boolean} is it an object's? */
function beginsObject(before, around) {
    if (!before || endsOperand(before)) return false;
    if (before.kind === 'template') return true;
    if (before.kind === 'name') return before.text !== 'else' && before.text !== 'do';
    // A label's and a case's are blocks.
    if (before.text === ':') return around !== undefined && (around.text !== '{' || around.object);
    return !['=>', ';', '{', '}', ')'].includes(before.text);
}

/** Characters that the grammar does not allow count as punctuators, so that the lexer always reaches the end. */
class Lexer {
    /** @type {Token[]} */
    tokens = [];
    /** @type {Bracket[]} */
    #open = [];
    #bodies = 0;
    #source;

    /** @param {string} source */
    constructor(source) {
        this.#source = source;
    }

    run() {
        const source = this.#source;
        for (let at = 0; ;) {
            const from = afterTrivia(source, at);
            if (from >= source.length) return this.tokens;
            const kind = this.#kindAt(from);
            const text = this.#match(kind, from) ?? /** @type {string} */ (this.#match('punctuator', from));
            const newline = at < from && /[\n\r\u2028\u2029]/.test(source.slice(at, from));
            at = from + text.length;
            this.#add({
                kind: text.length > 1 || kind === 'name' || kind === 'number' ? kind : 'punctuator',
                text,
                at: from,
                end: at,
                newline,
            });
        }
    }

    /** @param {Token['kind']} kind @param {number} at */
    #match(kind, at) {
        const pattern = kinds[kind];
        pattern.lastIndex = at;
        return pattern.exec(this.#source)?.[0];
    }

    /** @param {number} at @returns {Token['kind']} */
    #kindAt(at) {
        const unit = /** @type {string} */ (this.#source[at]);
        if (unit === '"' || unit === "'") return 'string';
        if (unit === '`' || (unit === '}' && this.#open.at(-1)?.text.endsWith('${'))) return 'template';
        if (/\d/.test(unit) || (unit === '.' && /\d/.test(this.#source[at + 1] ?? ''))) return 'number';
        if (unit === '/' && !endsOperand(this.tokens.at(-1)) && this.#match('regexp', at)) return 'regexp';
        return /[\w$#]/.test(unit) || unit > '\x7f'
            ? this.#match('name', at)
                ? 'name'
                : 'punctuator'
            : 'punctuator';
    }

    /** @param {Omit<Token, 'depth' | 'inner'>} found */
    #add(found) {
        const { kind, text } = found;
        const before = this.tokens.at(-1);
        const closing =
            (kind === 'template' && text.startsWith('}')) ||
            (kind === 'punctuator' && (text === ')' || text === ']' || text === '}'));
        const closed = closing ? this.#open.pop() : undefined;
        if (closed?.body) --this.#bodies;
        /** @type {Token} */
        const token = { ...found, depth: this.#open.length, inner: this.#bodies > 0 };
        if (kind === 'name' && (before?.text === '.' || before?.text === '?.')) token.member = true;
        if (closing && kind === 'punctuator')
            token.closes = text === ']' || (text === ')' ? !closed?.control : (closed?.object ?? false));
        if (
            kind === 'template'
                ? text.endsWith('${')
                : kind === 'punctuator' && (text === '(' || text === '[' || text === '{')
        )
            this.#push(token, before);
        this.tokens.push(token);
    }

    /** @param {Token} token @param {Token | undefined} before */
    #push({ kind, text }, before) {
        const brace = text === '{' && kind === 'punctuator';
        const body = brace && (before?.text === '=>' || (before?.text === ')' && Boolean(before.closes)));
        const keyword = before?.text === 'await' ? this.tokens.at(-2) : before;
        const control =
            text === '(' && keyword?.kind === 'name' && !keyword.member && controls.has(keyword.text);
        this.#open.push({
            text,
            control,
            body,
            object: brace && !body && beginsObject(before, this.#open.at(-1)),
        });
        if (body) ++this.#bodies;
    }
}

/** @param {string} source @returns {Token[]} */
export const tokensOf = (source) => new Lexer(source).run();
