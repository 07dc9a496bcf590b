/**
 * The line of a tab's source that calls the platform, such as `basket.js:12`, for the lines of a trace. It is found in
 * the stack, which is a text of its own form in each engine.
 */

/** The end of a line of a stack: `at add (file:///basket.js:12:5)`, or `add@https://shop.example/basket.js:12:5`. */
const location = /(?:^|[\s(@])([^\s(@]+):(\d+):\d+\)?$/;

/**
 * The address of a text that runs in a tab: the number of lines before its first own line, and its name. See
 * {@link sourceComment}.
 */
const textAddress = /^tabacus:(\d+)\/(.+)$/;

/** The number of frames that a stack has in V8, where it has ten by default. */
const framesMax = 100;

/** @typedef {{ file: string, line: number }} Frame */

/** The frames of a stack that have a file, without those of V8 that only await. @param {unknown} stack @returns {Frame[]} */
function framesOf(stack) {
    if (typeof stack !== 'string') return []; // a test runner may replace it
    const frames = [];
    for (const text of stack.split('\n')) {
        const [, file, line] = /^\s*(at )?async[ *]/.test(text) ? [] : (location.exec(text.trimEnd()) ?? []);
        if (file) frames.push({ file, line: Number(line) });
    }
    return frames;
}

/** Returns a long stack of its caller. */
function stackOfCaller() {
    const { stackTraceLimit } = /** @type {any} */ (Error);
    const limits = stackTraceLimit !== undefined && Reflect.set(Error, 'stackTraceLimit', framesMax);
    try {
        return new Error('for its stack').stack;
    } finally {
        if (limits) Reflect.set(Error, 'stackTraceLimit', stackTraceLimit);
    }
}

/** This file in a stack, which is a bundle unless the engine follows source maps. */
const ownFile = () => framesOf(stackOfCaller())[0]?.file ?? '';

/** @param {string} file */
const folderOf = (file) => file.slice(0, file.lastIndexOf('/') + 1);

/** The last part of an address. @param {string} file */
const baseName = (file) => /[^/\\]*$/.exec(file.replace(/[?#].*$/, ''))?.[0] ?? '';

/**
 * Returns a function that decides whether a file is one of this package, or of the program that runs the tabs.
 *
 * @param {string} own
 */
function platformOf(own) {
    const sources = /^(.*\/js\/)emulator\/trace\/source-line\.js$/.exec(own)?.[1];
    const inPackage = (/** @type {string} */ file) =>
        sources === undefined
            ? folderOf(file) === folderOf(own) && /^tabacus(-[\w-]+)?\.js$/.test(baseName(file))
            : file.startsWith(sources);
    return (/** @type {string} */ file) =>
        file === own ||
        inPackage(file) ||
        /^(node|wasm|native|internal)\b|^<anonymous>$|[/\\]fake-indexeddb[/\\]/.test(file);
}

/** @param {Frame[]} frames */
function lineIn(frames) {
    const isPlatform = platformOf(ownFile());
    const found = frames.find(({ file }) => !isPlatform(file));
    if (!found) return '';
    const [, before, name] = textAddress.exec(found.file) ?? [];
    if (name) return `${name}:${found.line - Number(before)}`;
    return `${baseName(found.file)}:${found.line}`;
}

/** The line that calls the platform, or an empty text if it is not known. */
export const callerLine = () => lineIn(framesOf(stackOfCaller()));

/** The line that has thrown an error, or an empty text if it is not known. @param {any} error */
export function throwingLine(error) {
    try {
        return lineIn(framesOf(error?.stack));
    } catch {
        return ''; // the getter of its stack throws
    }
}

/** The names of the texts that run in the tabs of an origin. */
export class SourceNames {
    /** @type {Map<string, string>} */
    #names = new Map();
    #last = { script: 0, function: 0 };

    /**
     * The name that a text has in a trace: that of its own comment `//# sourceURL`, `name`, or a number.
     *
     * @param {string} text
     * @param {'script' | 'function'} kind
     * @param {string} [name]
     */
    of(text, kind, name = '') {
        const own = baseName(/\/\/[#@] sourceURL=(\S+)\s*$/.exec(text)?.[1] ?? '') || name;
        if (/^[\w$.-]+$/.test(own)) return own;
        const known = this.#names.get(text);
        if (known) return known;
        const numbered = `${kind}-${++this.#last[kind]}`;
        this.#names.set(text, numbered);
        return numbered;
    }
}

/**
 * The comment that gives a text an address in stacks.
 *
 * @param {string} name
 * @param {number} before the number of lines that precede the first line of the text
 */
export const sourceComment = (name, before) => `\n//# sourceURL=tabacus:${before}/${name}`;

/**
 * The number of lines that the engine puts before the body of `new Function(body)`.
 *
 * @param {(parameters: string[], body: string) => any} compiled
 */
export function linesBeforeBody(compiled) {
    const stack = compiled([], `return new Error('for its stack').stack${sourceComment('body', 0)}`)();
    const found = framesOf(stack).find(({ file }) => textAddress.test(file));
    return found ? found.line - 1 : 0;
}
