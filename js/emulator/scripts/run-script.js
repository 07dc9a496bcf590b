/** Runs the scripts of a tab, which are texts or functions. Their global object is that of the tab. */

import { importerOf, importName, withTrackedImports } from './dynamic-import.js';
import { tokensOf } from './lexer.js';
import { askedIn, hidden, analysisOf } from './analysis.js';
import { linesBeforeBody, sourceComment } from '../trace/source-line.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('./analysis.js').Analysis} Analysis */

/**
 * Reads and assigns a script's variables from outside it.
 *
 * @typedef {{ get: (name: string) => unknown, set: (name: string, value: unknown) => unknown }} Access
 */

/**
 * The names that test runners define on the host's global object. A test's functions see them, other scripts do not.
 */
const runners = new Set(['assert', 'chai', 'expect', 'expectTypeOf', 'jest', 'vi', 'vitest']);

/** A `Symbol.unscopables` that hides all of the global object: only the script's own variables are found. */
const allUnscopable = new Proxy({}, { get: () => true });

/** Names that are visible to scripts, but that scripts do not use. */
const names = {
    text: '__tabacus_text',
    begin: '__tabacus_begin',
    name: '__tabacus_name',
    value: '__tabacus_value',
    beyond: '__tabacus_beyond',
    lexical: '__tabacus_lexical',
    ...hidden,
};

/** Runs within a script before its first statement: gives access to what the script declares. */
const prologue = `${names.begin}((${names.name}) => eval(${names.name}), (${names.name}, ${names.value}) => eval(${names.name} + ' = ${names.value}'));`;

/** The number of lines that the engine puts before the body of a function. @type {number | undefined} */
let linesBefore;

/** The scopes around a script, which are made by `with`. */
class Scopes {
    #context;
    #declaring = false;

    /** @param {Context} context @param {{ asked: Set<string>, strict?: boolean, lent?: Set<string> }} script */
    constructor(context, { asked, strict = false, lent }) {
        this.#context = context;
        const undeclared = (/** @type {string | symbol} */ key) =>
            new ReferenceError(`${String(key)} is not defined`);
        /**
         * The names that the global object does not have. It hides those of the host. An assignment defines a
         * property of the global object, as ECMAScript's PutValue does, unless the script is strict. Reading is an
         * error, except for names to which the script applies typeof, since a scope cannot distinguish typeof from a
         * read.
         */
        this.beyond = new Proxy(Object.create(null), {
            has: (_, /** @type {any} */ key) => key !== 'eval' && !(lent?.has(key) && key in globalThis),
            get: (_, /** @type {any} */ key) => {
                if (key === Symbol.unscopables || (asked.has(key) && !this.#declaring)) return undefined;
                throw undeclared(key);
            },
            set: (_, key, value) => {
                if (strict) throw undeclared(key);
                return Reflect.set(context.window, key, value);
            },
        });
        /** The names that earlier scripts declared by let, const and class. */
        this.lexical = new Proxy(Object.create(null), {
            has: (_, /** @type {any} */ key) => !this.#declaring && context.lexical.has(key),
            get: (_, /** @type {any} */ key) => context.lexical.get(key)?.get(key),
            set: (_, /** @type {any} */ key, value) => (context.lexical.get(key)?.set(key, value), true),
        });
    }

    /** Calls a function while only the names that the script itself declares are found. @param {() => void} call */
    declared(call) {
        const { window } = this.#context;
        this.#declaring = true;
        Object.defineProperty(window, Symbol.unscopables, { value: allUnscopable, configurable: true });
        try {
            call();
        } finally {
            delete window[Symbol.unscopables];
            this.#declaring = false;
        }
    }

    /**
     * Runs the body of a function, which finds the names of the global object.
     *
     * @param {string} body
     * @param {Record<string, unknown>} given its arguments by name
     * @param {string} [name] that of the text in traces
     */
    run(body, given, name) {
        const context = this.#context;
        const lexical = context.lexical.size > 0 ? `with (${names.lexical})` : '';
        const parameters = [names.lexical, importName, ...Object.keys(given)];
        const text = `with (${names.beyond}) return function (${parameters.join()}) { with (this) ${lexical} { ${body} } }`;
        return compiled(
            [names.beyond],
            name ? `${text}${sourceComment(name, (linesBefore ??= linesBeforeBody(compiled)))}` : text,
        )(this.beyond).call(
            context.window,
            this.lexical,
            importerOf(context, compiled),
            ...Object.values(given),
        );
    }
}

/**
 * Makes properties of the global object of what a script declares by var or function, before its first statement
 * (ECMAScript §16.1.7, GlobalDeclarationInstantiation).
 */
class Declarations {
    #window;
    #analysis;
    #scopes;
    /** @type {Access | undefined} */
    #access;
    /** @type {Map<string, unknown>} */
    #first = new Map();

    /** @param {Context} context @param {Analysis} analysis @param {Scopes} scopes */
    constructor(context, analysis, scopes) {
        this.#window = context.window;
        this.#analysis = analysis;
        this.#scopes = scopes;
        /** @param {Access['get']} get @param {Access['set']} set */
        this.begin = (get, set) => {
            const access = { get, set };
            this.#access = access;
            this.#first = this.#found();
            for (const [name, value] of this.#first) this.#declare(name, value);
            for (const name of analysis.lexical) context.lexical.set(name, access);
        };
    }

    /**
     * Copies changed variables to the global object. Those of a strict script, and functions in blocks, are local
     * while it runs.
     */
    end() {
        for (const [name, value] of this.#found()) {
            if (!Object.is(value, this.#first.get(name))) Reflect.set(this.#window, name, value);
        }
    }

    /** @returns {Map<string, unknown>} */
    #found() {
        const found = new Map();
        const access = this.#access;
        if (access)
            this.#scopes.declared(() => this.#analysis.names.forEach((name) => findIn(access, name, found)));
        return found;
    }

    /** @param {string} name @param {unknown} value */
    #declare(name, value) {
        if (typeof value !== 'function' && name in this.#window) return;
        const configurable = Object.getOwnPropertyDescriptor(this.#window, name)?.configurable ?? true;
        Reflect.defineProperty(
            this.#window,
            name,
            configurable ? { value, writable: true, enumerable: true, configurable } : { value },
        );
    }
}

/** @param {Access} access @param {string} name @param {Map<string, unknown>} found */
function findIn({ get }, name, found) {
    try {
        found.set(name, get(name));
    } catch {
        // The script declares the name elsewhere, for example within a function expression.
    }
}

/**
 * Runs a text. The value of a classic script is that of its last statement. A text that exports, or uses
 * `import.meta` or `await` at its outermost level, is a module; its value is a promise of its exports. Requires that
 * a module imports nothing: its imports have to be bundled.
 *
 * @param {Context} context
 * @param {string} given
 * @returns {any}
 */
export function runScript(context, given) {
    const source = given.replace(/^#!/, '//'); // a Hashbang Comment, which is only allowed at the start of a text (§12.5)
    const analysis = analysisOf(source, isClassic);
    const scopes = new Scopes(context, analysis);
    const name = context.rules.tracing ? context.rules.sources.of(given, 'script') : '';
    if (analysis.module) return runModule(context, analysis, scopes, name);
    const declarations = new Declarations(context, analysis, scopes);
    const declares = analysis.names.length + analysis.lexical.length > 0;
    const text = declares
        ? `${analysis.strict ? "'use strict';" : ''}${prologue}${analysis.text}`
        : analysis.text;
    try {
        return scopes.run(`return eval(${names.text})`, {
            [names.text]: name ? `${text}${sourceComment(name, 0)}` : text,
            [names.begin]: declarations.begin,
        });
    } finally {
        declarations.end();
    }
}

/** @param {string} source */
function isClassic(source) {
    try {
        return Boolean(compiled([], source));
    } catch {
        return false; // running it throws the error
    }
}

/** @param {Context} context @param {Analysis} analysis @param {Scopes} scopes @param {string} name @returns {Promise<object>} */
function runModule(context, { text, exports }, scopes, name) {
    const getters = exports
        .map(([name, local]) => `get ${JSON.stringify(name)}() { return ${local} },`)
        .join(' ');
    const body = `return (async function () { 'use strict'; const ${names.exported} = { ${getters} }; ${text}\nreturn ${names.exported} })()`;
    return scopes.run(body, { [names.meta]: { url: context.address.href } }, name);
}

/**
 * Runs a function by its text. It finds the names of the tab's global object, but not the variables that it closes
 * over.
 *
 * @param {Context} context
 * @param {Function} call
 * @param {any[]} given
 */
export function runFunction(context, call, given) {
    const text = withTrackedImports(String(call));
    const scopes = new Scopes(context, { asked: askedIn(text), lent: runners });
    const name = context.rules.tracing ? context.rules.sources.of(text, 'function', call.name) : '';
    return scopes.run(`return ${asExpression(text)}`, {}, name).apply(context.window, given);
}

/**
 * The text of a function as an expression. The text of a method (`run() { … }`) is no expression, so an object literal
 * is put around it.
 *
 * @param {string} text
 */
function asExpression(text) {
    const tokens = tokensOf(text);
    const texts = tokens.map((token) => token.text);
    const start = texts[0] === 'async' && !tokens[1]?.newline ? 1 : 0;
    if (texts[start] === 'function' || texts[start] === 'class') return `(${text})`;
    const parameters = tokens.findIndex(
        ({ text: one, kind, depth }, at) =>
            at >= start &&
            depth === 0 &&
            (one === ')' || one === '=>' || (at > start && kind === 'name' && texts[at + 1] === '=>')),
    );
    if (texts[parameters] === '=>' || texts[parameters + 1] === '=>') return `(${text})`;
    return `(Object.values(Object.getOwnPropertyDescriptors({ ${withName(text, tokens)} })).map(({ value, get, set }) => value ?? get ?? set)[0])`;
}

/**
 * The text of a method with a plain name in place of a computed or private one, which would refer to what it closes
 * over.
 *
 * @param {string} text
 * @param {import('./lexer.js').Token[]} tokens
 */
function withName(text, tokens) {
    const first = tokens.findIndex(
        (token) => token.depth === 0 && (token.text === '[' || token.text.startsWith('#')),
    );
    const list = tokens.findIndex((token) => token.depth === 0 && token.text === '(');
    const from = tokens[first];
    if (!from || first > list) return text;
    const last = from.text === '[' ? tokens[list - 1] : from;
    return `${text.slice(0, from.at)} method ${text.slice(last?.end)}`;
}

/** @param {string[]} parameters @param {string} body @returns {any} */
function compiled(parameters, body) {
    // This is the only place where text becomes code, since the caller wants to run it in a tab.
    return new Function(...parameters, body); // eslint-disable-line no-new-func
}
