/** Elements of a document: those that scripts need to open frames, and to show their results. */

import { defineAttribute, defineHandlers } from '../../platform/web-idl.js';
import { runScript } from '../scripts/run-script.js';
import { belongsTo, ReportingTarget } from './event-target.js';

/** @typedef {import('../context.js').Context} Context */

/** WindowEventHandlers, and those of GlobalEventHandlers whose events the emulator fires (HTML §8.1.8.2). */
export const WINDOW_HANDLERS = [
    'afterprint',
    'beforeprint',
    'beforeunload',
    'blur',
    'error',
    'focus',
    'hashchange',
    'languagechange',
    'load',
    'message',
    'messageerror',
    'offline',
    'online',
    'pagehide',
    'pageshow',
    'popstate',
    'rejectionhandled',
    'resize',
    'storage',
    'unhandledrejection',
    'unload',
];

/** A node of a document: its position in the tree, and no more. */
class Node extends ReportingTarget {
    #context;
    /** @type {Element | null} */
    parentElement = null;

    /** @param {Context} context */
    constructor(context) {
        super();
        belongsTo(this, context);
        this.#context = context;
    }

    /** @param {Node} node */
    static contextOf(node) {
        return node.#context;
    }

    get ownerDocument() {
        return this.#context.original('document');
    }
    get parentNode() {
        return this.parentElement;
    }

    remove() {
        const parent = this.parentElement;
        if (!parent) return;
        const was = parent.isConnected;
        parent.childNodes = parent.childNodes.filter((/** @type {Node} */ one) => one !== this);
        this.parentElement = null;
        if (was) for (const one of this.tree()) one.onDisconnected();
    }

    /** The elements of it and within it. @returns {Element[]} */
    tree() {
        return [];
    }
}

export class Text extends Node {
    /** @param {Context} context @param {string} data */
    constructor(context, data) {
        super(context);
        this.data = data;
    }

    get textContent() {
        return this.data;
    }
    set textContent(data) {
        this.data = data;
    }
}

export class Element extends Node {
    #attributes = new Map();
    /** @type {(Element | Text)[]} */
    childNodes = [];
    style = {};

    /** @param {Context} context @param {string} localName */
    constructor(context, localName) {
        super(context);
        this.localName = localName;
        this.tagName = localName.toUpperCase();
    }

    /** @returns {Element[]} */
    get children() {
        return this.childNodes.filter((one) => one instanceof Element);
    }
    /** @returns {Element | Text | null} */
    get firstChild() {
        return this.childNodes[0] ?? null;
    }
    /** @returns {Element | Text | null} */
    get lastChild() {
        return this.childNodes.at(-1) ?? null;
    }

    /** @type {string} */
    get textContent() {
        return this.childNodes.map((child) => child.textContent).join('');
    }
    set textContent(text) {
        for (const child of this.childNodes) child.remove();
        if (`${text ?? ''}` !== '') this.append(`${text}`);
    }

    get id() {
        return this.getAttribute('id') ?? '';
    }
    set id(id) {
        this.setAttribute('id', id);
    }

    /** @type {boolean} */
    get isConnected() {
        return this.localName === 'html' || (this.parentElement?.isConnected ?? false);
    }

    /** @param {string} name */
    getAttribute(name) {
        return this.#attributes.get(`${name}`.toLowerCase()) ?? null;
    }
    /** @param {string} name @param {unknown} value */
    setAttribute(name, value) {
        this.#attributes.set(`${name}`.toLowerCase(), `${value}`);
        this.onAttribute(`${name}`.toLowerCase());
    }
    /** @param {string} name */
    hasAttribute(name) {
        return this.getAttribute(name) !== null;
    }
    /** @param {string} name */
    removeAttribute(name) {
        this.#attributes.delete(`${name}`.toLowerCase());
        this.onAttribute(`${name}`.toLowerCase());
    }

    /** @template {Element | Text} T @param {T} child @returns {T} */
    appendChild(child) {
        return this.insertBefore(child, null);
    }
    /** @param {...(Element | Text | string)} more */
    append(...more) {
        for (const child of more)
            this.appendChild(child instanceof Node ? child : new Text(Node.contextOf(this), `${child}`));
    }
    /** @template {Element | Text} T @param {T} child @param {Element | Text | null} before @returns {T} */
    insertBefore(child, before) {
        child.remove();
        const at = before ? this.childNodes.indexOf(before) : -1;
        this.childNodes.splice(at < 0 ? this.childNodes.length : at, 0, child);
        child.parentElement = this;
        if (this.isConnected) for (const one of child.tree()) one.onConnected();
        return child;
    }
    /** @template {Element | Text} T @param {T} child @returns {T} */
    removeChild(child) {
        if (child.parentElement !== this)
            throw new DOMException('removeChild: not a child of this element', 'NotFoundError');
        child.remove();
        return child;
    }

    /** @param {unknown} selector */
    querySelectorAll(selector) {
        return selected(this.children, `${selector}`);
    }
    /** @param {unknown} selector */
    querySelector(selector) {
        return this.querySelectorAll(selector)[0] ?? null;
    }

    /** @returns {Element[]} */
    tree() {
        return [this, ...this.children.flatMap((child) => child.tree())];
    }

    onConnected() {}
    onDisconnected() {}
    /** HTML §8.1.8.1: an event handler content attribute is a handler's body. @param {string} name */
    onAttribute(name) {
        if (!name.startsWith('on') || !(name in this)) return;
        const text = this.getAttribute(name);
        /** @type {any} */ (this)[name] = text === null ? null : handlerOf(Node.contextOf(this), name, text);
    }
}
defineHandlers(Element.prototype, ['load', 'error', 'click']);

/**
 * HTML §8.1.8.1, "getting the current value of the event handler": compiled at once, and not at the first event.
 *
 * @param {Context} context
 * @param {string} name
 * @param {string} text
 */
function handlerOf(context, name, text) {
    try {
        return runScript(
            context,
            `(function ${name}(event${name === 'onerror' ? ', source, lineno, colno, error' : ''}) {\n${text}\n})`,
        );
    } catch (error) {
        context.report(error);
        return null;
    }
}

/** HTML §4.3.1, §8.1.8.2: the handlers of the body element are its window's. */
export class BodyElement extends Element {}
for (const type of WINDOW_HANDLERS) {
    const name = `on${type}`;
    defineAttribute(BodyElement.prototype, name, {
        /** @this {BodyElement} */
        get() {
            return Node.contextOf(this).window[name];
        },
        /** @this {BodyElement} @param {unknown} value */
        set(value) {
            Node.contextOf(this).window[name] = value;
        },
    });
}

/** A compound selector: a type, and conditions on ids, classes and attributes (Selectors §4.2). */
const compound = /^(\*|[a-z][\w-]*)?((?:[#.][\w-]+|\[[\w-]+(?:=(?:"[^"]*"|'[^']*'|[\w-]+))?\])*)$/i;
const simple = /([#.])([\w-]+)|\[([\w-]+)(?:=["']?([^"'\]]*)["']?)?\]/g;

/** @param {string} text @returns {(element: Element) => boolean} */
function compiled(text) {
    const [, type = '*', rest = ''] = compound.exec(text) ?? [];
    if (text === '' || !compound.test(text))
        throw new DOMException(`querySelector: '${text}' is beyond this document`, 'SyntaxError');
    const asked = [...rest.matchAll(simple)];
    return (element) =>
        (type === '*' || element.localName === type.toLowerCase()) &&
        asked.every(([, sign, name = '', attribute = '', value]) => {
            if (sign === '#') return element.id === name;
            if (sign === '.') return (element.getAttribute('class') ?? '').split(/\s+/).includes(name);
            return value === undefined
                ? element.hasAttribute(attribute)
                : element.getAttribute(attribute) === value;
        });
}

/**
 * The elements of trees that a list of selectors finds, in their order: compound ones, and within one another.
 *
 * @param {Element[]} roots
 * @param {string} selector
 */
export function selected(roots, selector) {
    const lists = selector.split(',').map((one) => one.trim().split(/\s+/).map(compiled).reverse());
    const found = (/** @type {Element} */ element) =>
        lists.some(([last, ...above]) => {
            /** @type {Element | null} */
            let at = element.parentElement;
            return (
                last?.(element) &&
                above.every((fits) => {
                    while (at && !fits(at)) at = at.parentElement;
                    const fitting = at;
                    at = fitting?.parentElement ?? null;
                    return fitting !== null;
                })
            );
        });
    return roots.flatMap((one) => one.tree()).filter(found);
}
