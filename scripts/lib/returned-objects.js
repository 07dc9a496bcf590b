/**
 * Removes the results of constructors and destructors. In C++ for WebAssembly they return the object that they are
 * called for, and the compiler uses the result in place of the object's address. Five of six calls drop the result, and
 * the others compress better with the address.
 */

import { name } from './program-text.js';

/** An instruction and its operands, or a declaration. @typedef {{ text: string, inner: Node[] }} Node */

const called = new RegExp(`^\\(call ${name}`);
const assigned = /^\(local\.(?:set|tee) (\$[^\s()]+)/;
const read = /^\(local\.get (\$[^\s()]+)\)$/;
const result = ' (result i32)';

/** @param {string} line */
const indentOf = (line) => line.length - line.trimStart().length;

/** @param {string[]} lines of a function @returns {Node} */
function treeOf(lines) {
    const [head = '', ...rest] = lines;
    const func = { text: head, inner: [] };
    /** @type {Node[]} */
    const open = [func];
    for (const line of rest) {
        open.length = indentOf(line) - 1;
        if (line.trim() === ')') continue;
        const node = { text: line.trim(), inner: [] };
        open.at(-1)?.inner.push(node);
        open.push(node);
    }
    return func;
}

/** @param {Node} node @param {number} [indent] @returns {string[]} the lines of an instruction or a function */
function linesOf({ text, inner }, indent = 1) {
    const space = ' '.repeat(indent);
    const isOpen = inner.length > 0 || text.startsWith(' (func');
    const lines = [space + text.trim(), ...inner.flatMap((one) => linesOf(one, indent + 1))];
    return isOpen ? [...lines, `${space})`] : lines;
}

/**
 * Whether an instruction, or one of its operands, assigns a variable.
 *
 * @param {Node} node
 * @param {string} variable
 * @returns {boolean}
 */
const assigns = ({ text, inner }, variable) =>
    assigned.exec(text)?.[1] === variable || inner.some((one) => assigns(one, variable));

const first = '(local.get $0)';

/**
 * Whether an instruction gives the first parameter.
 *
 * @param {Node | undefined} node
 * @param {Set<string>} known functions that return their first parameter
 * @returns {boolean}
 */
function givesFirst(node, known) {
    const { text = '', inner: [operand] = [] } = node ?? {};
    if (text === first) return true;
    return (
        (text === '(local.tee $0' || known.has(called.exec(text)?.[1] ?? '')) && givesFirst(operand, known)
    );
}

/**
 * Whether a function, or an instruction in it, returns nothing but the first parameter, and assigns nothing else to it.
 *
 * @param {Node} node
 * @param {Set<string>} known functions that return their first parameter
 * @returns {boolean}
 */
function keepsFirst({ text, inner }, known) {
    const isAssigned = assigned.exec(text)?.[1] === '$0';
    if ((isAssigned || text.startsWith('(return')) && !givesFirst(inner[0], known)) return false;
    return inner.every((one) => keepsFirst(one, known));
}

/**
 * Whether a function always returns its first parameter.
 *
 * @param {Node} func
 * @param {Set<string>} known functions that do so
 */
function returnsFirst(func, known) {
    if (!func.text.includes('(param $0 i32)') || !func.text.endsWith(result)) return false;
    return givesFirst(func.inner.at(-1), known) && keepsFirst(func, known);
}

/**
 * The variable from which an address is computed, or undefined if it is computed in another way.
 *
 * @param {Node} address
 */
function baseOf({ text, inner }) {
    const [first, second] = inner;
    const isSum = text === '(i32.add' && second?.text.startsWith('(i32.const ');
    return read.exec(isSum ? (first?.text ?? '') : text)?.[1];
}

/** @param {Node[]} inner an instruction @returns {Node} */
const dropped = (inner) => ({ text: '(drop', inner });

/** Rewrites the calls of one function. */
class Rewriting {
    /** The blocks that replace calls: each contains the call, and then the object's address. @type {Set<Node>} */
    #blocks = new Set();

    /** @type {Node[]} */
    added = [];

    /**
     * @param {Set<string>} changed the functions that return nothing any more
     * @param {boolean} isChanged whether this function is one of them
     */
    constructor(changed, isChanged) {
        this.changed = changed;
        this.isChanged = isChanged;
    }

    /** @param {Node} node @returns {Node[]} */
    rewritten = ({ text, inner }) => {
        const operands = inner.flatMap(this.rewritten);
        const node = { text, inner: operands };
        if (this.changed.has(called.exec(text)?.[1] ?? '')) return [this.#block(node)];
        if (this.isChanged && text === '(return')
            return [{ text: '(block', inner: [dropped(operands), { text: '(return)', inner: [] }] }];
        const [operand] = operands;
        if (!operand || !this.#blocks.has(operand)) return [node];
        const [call, object] = /** @type {[Node, Node]} */ (operand.inner);
        const isItself = object.text === `(local.get ${assigned.exec(text)?.[1]})`;
        if (text === '(drop' || (isItself && text.startsWith('(local.set'))) return [call];
        if (isItself) return [operand];
        return text.startsWith('(local.set') ? [call, { text, inner: [object] }] : [node];
    };

    /** @param {Node} call @returns {Node} */
    #block(call) {
        const [object, ...others] = /** @type {[Node, ...Node[]]} */ (call.inner);
        const base = baseOf(object);
        const block = { text: `(block${result}`, inner: [call, object] };
        this.#blocks.add(block);
        if (base && !others.some((one) => assigns(one, base))) return block;
        const variable = `$object${this.added.length}`;
        this.added.push({ text: `(local ${variable} i32)`, inner: [] });
        call.inner = [{ text: `(local.tee ${variable}`, inner: [object] }, ...others];
        block.inner = [call, { text: `(local.get ${variable})`, inner: [] }];
        return block;
    }
}

/** @param {Node} func @param {Set<string>} changed @param {boolean} isChanged whether it returns nothing any more */
function rewrittenFunction(func, changed, isChanged) {
    const rewriting = new Rewriting(changed, isChanged);
    const inner = func.inner.flatMap(rewriting.rewritten);
    if (isChanged) inner.push(dropped(inner.splice(-1)));
    const text = isChanged ? func.text.slice(0, -result.length) : func.text;
    return linesOf({ text, inner: [...rewriting.added, ...inner] });
}

/**
 * The functions of a program, of which those that always return their first parameter return nothing.
 *
 * @param {Map<string, string[]>} functions
 * @param {Set<string>} fixed functions whose type must stay: they are exported, or called by their index
 * @returns {Map<string, string[]>}
 */
export function withoutReturnedObjects(functions, fixed) {
    const trees = new Map([...functions].map(([func, lines]) => [func, treeOf(lines)]));
    /** @type {Set<string>} */
    const changed = new Set();
    for (let before = -1; before < changed.size;) {
        before = changed.size;
        for (const [func, tree] of trees)
            if (!fixed.has(func) && returnsFirst(tree, changed)) changed.add(func);
    }
    return new Map(
        [...trees].map(([func, tree]) => [func, rewrittenFunction(tree, changed, changed.has(func))]),
    );
}
