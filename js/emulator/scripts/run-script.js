/** Scripts of a tab: text or a function, with the tab's global object for theirs. */

import { tokensOf } from './lexer.js';
import { askedIn, hidden, analysisOf } from './analysis.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('./analysis.js').Analysis} Analysis */

/** Reads and assigns a script's variables from outside it. @typedef {{ get: (name: string) => unknown, set: (name: string, value: unknown) => unknown }} Access */

/** What test runners put on the host's global object, for a test's functions and no script. */
const runners = new Set(['assert', 'chai', 'expect', 'expectTypeOf', 'jest', 'vi', 'vitest']);

/** A `Symbol.unscopables` that hides all of the global object: only the script's own variables are found. */
const allUnscopable = new Proxy({}, { get: () => true });

/** Names that scripts can see, and do not use. */
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

/** The scopes of `with` that are around a script. */
class Scopes {
    #context;
    #declaring = false;

    /** @param {Context} context @param {{ asked: Set<string>, strict?: boolean, lent?: Set<string> }} script */
    constructor(context, { asked, strict = false, lent }) {
        this.#context = context;
        const undeclared = (/** @type {string | symbol} */ key) =>
            new ReferenceError(`${String(key)} is not defined`);
        /**
         * The names that the global object does not have; the host's are not visible. ECMAScript's PutValue
         * makes a property of what is assigned, unless by a strict script. Reading is an error, except by
         * typeof, which a scope cannot distinguish.
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
        /** What scripts before it declared by let, const and class. */
        this.lexical = new Proxy(Object.create(null), {
            has: (_, /** @type {any} */ key) => !this.#declaring && context.lexical.has(key),
            get: (_, /** @type {any} */ key) => context.lexical.get(key)?.get(key),
            set: (_, /** @type {any} */ key, value) => (context.lexical.get(key)?.set(key, value), true),
        });
    }

    /** Calls when no name is found but what the script itself declares. @param {() => void} call */
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

    /** @param {string} body a function's, which finds the global object's names @param {Record<string, unknown>} given its parameters */
    run(body, given) {
        const lexical = this.#context.lexical.size > 0 ? `with (${names.lexical})` : '';
        const parameters = Object.keys(given);
        const text = `with (${names.beyond}) return function (${[names.lexical, ...parameters].join()}) { with (this) ${lexical} { ${body} } }`;
        return compiled(
            [names.beyond],
            text,
        )(this.beyond).call(this.#context.window, this.lexical, ...Object.values(given));
    }
}

/**
 * ECMAScript §16.1.7, GlobalDeclarationInstantiation: what a script declares by var or function is a property of
 * the global object, from its first statement on.
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

    /** A strict script's variables are its own while it runs; and so are functions in blocks. */
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
        // The script declares it elsewhere: for example, within a function's expression.
    }
}

/**
 * A classic script: its value is that of its last statement. A text that exports, or uses `import.meta` or `await` at
 * its outermost level, is a module, of which imports must have been bundled away: its value is a promise of what it
 * exports.
 *
 * @param {Context} context
 * @param {string} given
 * @returns {any}
 */
export function runScript(context, given) {
    const source = given.replace(/^#!/, '//'); // §12.5, a Hashbang Comment: only the first of a text's
    const analysis = analysisOf(source, isClassic);
    const scopes = new Scopes(context, analysis);
    if (analysis.module) return runModule(context, analysis, scopes);
    const declarations = new Declarations(context, analysis, scopes);
    const declares = analysis.names.length + analysis.lexical.length > 0;
    const text = declares ? `${analysis.strict ? "'use strict';" : ''}${prologue}${source}` : source;
    try {
        return scopes.run(`return eval(${names.text})`, {
            [names.text]: text,
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
        return false; // the error is thrown when it is run
    }
}

/** @param {Context} context @param {Analysis} analysis @param {Scopes} scopes @returns {Promise<object>} */
function runModule(context, { text, exports }, scopes) {
    const getters = exports
        .map(([name, local]) => `get ${JSON.stringify(name)}() { return ${local} },`)
        .join(' ');
    const body = `return (async function () { 'use strict'; const ${names.exported} = { ${getters} }; ${text}\nreturn ${names.exported} })()`;
    return scopes.run(body, { [names.meta]: { url: context.address.href } });
}

/**
 * Runs a function by its text, which finds the tab's global object by name: what it closes over is not there.
 *
 * @param {Context} context
 * @param {Function} call
 * @param {any[]} given
 */
export function runFunction(context, call, given) {
    const text = String(call);
    const scopes = new Scopes(context, { asked: askedIn(text), lent: runners });
    return scopes.run(`return ${asExpression(text)}`, {}).apply(context.window, given);
}

/** A method's text is no expression: `run() { … }`; that of an object with it is. @param {string} text */
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

/** A computed or private name is one of a class or of what it closes over. @param {string} text @param {import('./lexer.js').Token[]} tokens */
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
    // Only here does text become code: running it in a tab is what the caller asked for.
    return new Function(...parameters, body); // eslint-disable-line no-new-func
}
