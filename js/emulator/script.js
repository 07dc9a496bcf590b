/** Scripts of a tab: text or a function, with the tab's global object for theirs. */

/** @typedef {import('./context.js').Context} Context */

/** What a page has not, whatever the host is. */
const ABSENT = new Set(['process', 'Buffer', 'global', 'setImmediate', 'clearImmediate', 'require', 'module', 'exports', '__filename', '__dirname']);

/**
 * The global object as the scope of `with`: its own names first; then the host's language (Array, Promise);
 * never the host's platform.
 *
 * @param {any} window
 * @param {Set<string>} [makes] names that become properties of it when they are assigned
 */
const scopeOf = (window, makes = new Set()) =>
    new Proxy(window, {
        has: (target, /** @type {any} */ key) => key in target || ABSENT.has(key) || (makes.has(key) && !(key in globalThis)),
        get: (target, key) => {
            if (key === Symbol.unscopables) return undefined;
            const value = Reflect.get(target, key, target);
            return unbound.has(/** @type {string} */ (key)) ? value.bind(target) : value;
        },
        set: (target, key, value) => Reflect.set(target, key, value, target),
    });

/** Of EventTarget's: a script calls them with no object, which stands for its global object. */
const unbound = new Set(['addEventListener', 'removeEventListener', 'dispatchEvent']);

/** Names that a classic script may declare at its outermost level: of an inner one nothing is found there. */
const declared = /\b(?:var|function\s*\*?)\s+([\p{ID_Start}$_][\p{ID_Continue}$]*)/gu;

/** Names that a script that is not strict assigns: without a declaration each is a property of the global object. */
const assigned =
    /(?<![.\p{ID_Continue}$])(?:([\p{ID_Start}$_][\p{ID_Continue}$]*)\s*(?:(?:\*\*|<<|>>>?|&&|\|\||\?\?|[-+*/%&|^])?=(?![=>])|\+\+|--|\s(?:of|in)\b)|(?:\+\+|--)\s*([\p{ID_Start}$_][\p{ID_Continue}$]*))/gu;

/** @param {string} text @param {readonly (string | undefined)[]} names that it declares */
const madeBy = (text, names) =>
    new Set([...text.matchAll(assigned)].map(([, before, after]) => before ?? after ?? '').filter((name) => !names.includes(name)));

/**
 * A classic script: its value is that of its last statement; what it declares by var or function becomes a
 * property of the global object. A text with `import` or `export` is a module, of which imports must have been
 * bundled away: its value is a promise of what it exports.
 *
 * @param {Context} context
 * @param {string} source
 * @returns {any}
 */
export function runScript(context, source) {
    if (/(?:^|[;}])\s*export\b/m.test(source) && !isClassic(source)) return runModule(context, source);
    const names = [...new Set([...source.matchAll(declared)].map(([, name]) => name))];
    const { $text, $keep } = /** @type {Record<string, string>} */ (parameters);
    // What a strict script declares is gone after it; so it keeps it itself, for which its value is lost.
    const strict = /^\s*(?:\/\*[^]*?\*\/\s*|\/\/.*\n\s*)*(['"])use strict\1/.test(source);
    const keep = names.map((name) => `try { ${$keep}(${JSON.stringify(name)}, ${strict ? name : `eval(${JSON.stringify(name)})`}) } catch {}`).join('\n');
    const text = strict ? `${source}\n;${keep}` : source;
    const body = `with (${parameters.$scope}) { const $value = eval(${$text}); ${strict ? '' : keep}; return $value }`;
    const set = (/** @type {string} */ name, /** @type {unknown} */ value) => (context.window[name] = value);
    return compiled(Object.values(parameters), body).call(context.window, scopeOf(context.window, strict ? undefined : madeBy(source, names)), text, set);
}

/** @param {string} source */
function isClassic(source) {
    try {
        return Boolean(compiled([], source));
    } catch {
        return false; // it says why when it is run
    }
}

/** Names that no script uses: they can be seen in it. */
const parameters = { $scope: '__tabacus_scope', $text: '__tabacus_text', $keep: '__tabacus_keep' };

/** @param {Context} context @param {string} source @returns {Promise<object>} */
function runModule(context, source) {
    /** @type {string[]} */
    const after = [];
    const text = source
        .replace(/(^|[;}])\s*export\s*\{([^}]*)\}\s*;?/gm, (_, before, list) => {
            for (const item of list.split(',').filter((/** @type {string} */ one) => one.trim())) {
                const [local, name = local] = item.trim().split(/\s+as\s+/);
                after.push(`exported[${JSON.stringify(name)}] = ${local};`);
            }
            return before;
        })
        .replace(/^\s*export\s+default\s+/gm, 'exported.default = ')
        .replace(/^\s*export\s+((?:async\s+)?function\s*\*?|class|const|let|var)\s+([\p{ID_Start}$_][\p{ID_Continue}$]*)/gmu, (_, kind, name) => {
            after.push(`exported[${JSON.stringify(name)}] = ${name};`);
            return `${kind} ${name}`;
        });
    const body = `with (scope) { return (async function () { 'use strict'; ${text}\n${after.join('\n')} return exported; })() }`;
    return compiled(['scope', 'exported'], body).call(undefined, scopeOf(context.window), {});
}

/**
 * A function that uses the tab's global object by name, as its text says: what it closes over is not there.
 *
 * @param {Context} context
 * @param {Function} call
 * @param {any[]} given
 */
export function runFunction(context, call, given) {
    const text = String(call);
    const made = compiled(['scope'], `with (scope) { return (${asExpression(text)}) }`)(scopeOf(context.window, madeBy(text, [])));
    return made.apply(context.window, given);
}

/** A method's text is no expression: `run() { … }`. @param {string} text */
const asExpression = (text) =>
    /^(?:async\s+)?(?:function\b|\(|[\p{ID_Start}$_][\p{ID_Continue}$]*\s*=>|class\b)/u.test(text) ? text : text.replace(/^(async\s+)?/, '$1function ');

/** @param {string[]} parameters @param {string} body @returns {any} */
function compiled(parameters, body) {
    // Only here does text become code: running it in a tab is what the caller asked for.
    return new Function(...parameters, body); // eslint-disable-line no-new-func
}
