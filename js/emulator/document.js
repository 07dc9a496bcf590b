/** A window's document: its state, and of elements just those that scripts need to open frames. */

import { trusted } from './events.js';
import { defineAttribute, defineHandlers } from './idl.js';
import { runScript } from './script.js';
import { belongsTo, InnerTarget, ReportingTarget } from './target.js';
import { textOf } from './worker.js';

/** @typedef {import('./context.js').Context} Context */

/** HTML §8.1.8.2: of GlobalEventHandlers those that something here fires, and WindowEventHandlers. */
export const WINDOW_HANDLERS = [
    'afterprint', 'beforeprint', 'beforeunload', 'blur', 'error', 'focus', 'hashchange', 'languagechange', 'load', 'message', 'messageerror',
    'offline', 'online', 'pagehide', 'pageshow', 'popstate', 'rejectionhandled', 'resize', 'storage', 'unhandledrejection', 'unload',
];

/** An element: a place in the document's tree, and no more. */
class Element extends ReportingTarget {
    #context;
    #attributes = new Map();
    /** @type {Element | null} */
    parentElement = null;
    /** @type {Element[]} */
    children = [];
    style = {};
    textContent = '';

    /** @param {Context} context @param {string} localName */
    constructor(context, localName) {
        super();
        belongsTo(this, context);
        this.#context = context;
        this.localName = localName;
        this.tagName = localName.toUpperCase();
    }

    get parentNode() {
        return this.parentElement;
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

    /** @template {Element} T @param {T} child @returns {T} */
    appendChild(child) {
        return this.insertBefore(child, null);
    }
    /** @param {...Element} more */
    append(...more) {
        for (const child of more) this.appendChild(child);
    }
    /** @template {Element} T @param {T} child @param {Element | null} before @returns {T} */
    insertBefore(child, before) {
        child.remove();
        const at = before ? this.children.indexOf(before) : -1;
        this.children.splice(at < 0 ? this.children.length : at, 0, child);
        child.parentElement = this;
        if (this.isConnected) for (const one of child.tree()) one.onConnected();
        return child;
    }
    /** @template {Element} T @param {T} child @returns {T} */
    removeChild(child) {
        if (child.parentElement !== this) throw new DOMException('removeChild: not a child of this element', 'NotFoundError');
        child.remove();
        return child;
    }
    remove() {
        const parent = this.parentElement;
        if (!parent) return;
        const was = this.isConnected;
        parent.children = parent.children.filter((one) => one !== this);
        this.parentElement = null;
        if (was) for (const one of this.tree()) one.onDisconnected();
    }

    /** It and what is in it. @returns {Element[]} */
    tree() {
        return [this, ...this.children.flatMap((child) => child.tree())];
    }

    onConnected() {}
    onDisconnected() {}
    /** HTML §8.1.8.1: an event handler content attribute is a handler's body. @param {string} name */
    onAttribute(name) {
        if (!name.startsWith('on') || !(name in this)) return;
        const text = this.getAttribute(name);
        /** @type {any} */ (this)[name] = text === null ? null : handlerOf(this.#context, name, text);
    }

    /** @param {Element} element */
    static contextOf(element) {
        return element.#context;
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
        return runScript(context, `(function ${name}(event${name === 'onerror' ? ', source, lineno, colno, error' : ''}) {\n${text}\n})`);
    } catch (error) {
        context.report(error);
        return null;
    }
}

/** HTML §4.3.1, §8.1.8.2: the handlers of the body element are its window's. */
class BodyElement extends Element {}
for (const type of WINDOW_HANDLERS) {
    const name = `on${type}`;
    defineAttribute(BodyElement.prototype, name, {
        /** @this {BodyElement} */
        get() {
            return Element.contextOf(this).window[name];
        },
        /** @this {BodyElement} @param {unknown} value */
        set(value) {
            Element.contextOf(this).window[name] = value;
        },
    });
}

/** Of a text in HTML: its scripts, those within it, and the attributes of its body. */
const parts = /<script\b[^>]*>([^]*?)<\/script\s*>|<body\b((?:[^>"']|"[^"]*"|'[^']*')*)>/gi;

/** HTML §13.1.2.3 */
const attributes = /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g;

/** A frame's document is what a text in HTML says. @param {Context} frame @param {string} html */
function fill(frame, html) {
    for (const [, script, body = ''] of html.matchAll(parts)) {
        if (script !== undefined) frame.guard(() => runScript(frame, script));
        for (const [, name = '', ...values] of body.matchAll(attributes)) {
            frame.original('document').body.setAttribute(name, values.find((value) => value !== undefined) ?? '');
        }
    }
}

/** HTML §7.1.6, the sandboxing flags. @param {string | null | undefined} sandbox @param {'same-origin' | 'scripts'} what */
export const allows = (sandbox, what) => sandbox == null || sandbox.toLowerCase().split(/[\t\n\f\r ]+/).includes(`allow-${what}`);

/** HTML §4.8.5: a frame while it is in the document, of this origin. What it shows is what its srcdoc or blob says. */
class FrameElement extends Element {
    #parent;
    /** @type {Context | undefined} */
    #frame;

    /** @param {Context} parent */
    constructor(parent) {
        super(parent, 'iframe');
        this.#parent = parent;
    }

    get contentWindow() {
        return this.#frame?.window ?? null;
    }
    get contentDocument() {
        const frame = this.#frame;
        return frame && frame.opaque === this.#parent.opaque ? frame.original('document') : null;
    }

    get src() {
        const src = this.getAttribute('src');
        return src !== null && URL.canParse(src, this.#parent.url) ? new URL(src, this.#parent.url).href : (src ?? '');
    }
    set src(src) {
        this.setAttribute('src', src);
    }
    get srcdoc() {
        return this.getAttribute('srcdoc') ?? '';
    }
    set srcdoc(srcdoc) {
        this.setAttribute('srcdoc', srcdoc);
    }
    get sandbox() {
        return this.getAttribute('sandbox') ?? '';
    }
    set sandbox(sandbox) {
        this.setAttribute('sandbox', sandbox);
    }
    get name() {
        return this.getAttribute('name') ?? '';
    }
    set name(name) {
        this.setAttribute('name', name);
    }

    onConnected() {
        this.#open();
    }
    onDisconnected() {
        this.#close();
    }
    /** Navigates. @param {string} name */
    onAttribute(name) {
        super.onAttribute(name);
        if (!this.isConnected || (name !== 'src' && name !== 'srcdoc')) return;
        this.#close();
        this.#open();
    }

    #close() {
        if (this.#frame?.active) this.#parent.tab.closeFrame(this.#frame);
        this.#frame = undefined;
    }

    #open() {
        const parent = this.#parent;
        if (!parent.active) return;
        // An address that is empty, or none, leaves about:blank.
        const src = this.getAttribute('src') && URL.canParse(this.src) ? this.src : 'about:blank';
        const address = this.hasAttribute('srcdoc') ? 'about:srcdoc' : src;
        const { protocol, origin } = new URL(address, parent.url);
        // Another origin's frame is none of this emulator's.
        const inherits = protocol === 'about:' || protocol === 'blob:';
        if (!inherits && origin !== parent.url.origin) return this.#loaded(undefined);
        const sandbox = this.getAttribute('sandbox') ?? undefined;
        const frame = parent.tab.openFrame({ parent, sandbox, url: inherits ? parent.url : address });
        if (inherits) frame.address = new URL(address);
        this.#frame = frame;
        frame.name = this.name;
        frame.element = this;
        if (address === 'about:blank') this.#loaded(frame);
        else void this.#load(frame, address, allows(sandbox, 'scripts'));
    }

    /** @param {Context} frame @param {string} address @param {boolean} scripted */
    async #load(frame, address, scripted) {
        const done = frame.origin.beginWork();
        const html = address === 'about:srcdoc' ? this.srcdoc : await Promise.resolve(textOf(new URL(address))).catch(() => '');
        frame.queueTask(() => {
            if (scripted) fill(frame, html);
            frame.fire(frame.window, trusted(Event, 'load'));
            this.#parent.queueTask(() => this.#loaded(frame));
        });
        done();
    }

    /** @param {Context | undefined} frame */
    #loaded(frame) {
        if (frame === this.#frame) this.#parent.fire(this, trusted(Event, 'load'));
    }
}

/** @type {Record<string, (context: Context) => new (type: string) => Event>} */
const EVENTS = {
    ...Object.fromEntries(['event', 'events', 'htmlevents', 'svgevents'].map((name) => [name, () => Event])),
    customevent: () => CustomEvent,
    messageevent: (context) => context.original('MessageEvent'),
    storageevent: (context) => context.original('StorageEvent'),
};

/** DOM §4.5: of its table those interfaces that are here. @param {Context} context @param {string} name */
function createEvent(context, name) {
    const known = Object.hasOwn(EVENTS, name.toLowerCase()) ? EVENTS[name.toLowerCase()] : undefined;
    if (!known) throw new DOMException(`createEvent: no events of '${name}'`, 'NotSupportedError');
    const Interface = known(context);
    return new Interface('');
}

/** @param {Context} context @param {string} name in lower case */
function createElement(context, name) {
    if (name === 'iframe') return new FrameElement(context);
    return name === 'body' ? new BodyElement(context, name) : new Element(context, name);
}

/** @param {Context} context @returns {any} */
export function documentOf(context) {
    const { tab, address, url } = context;
    const make = (/** @type {unknown} */ name) => createElement(context, `${name}`.toLowerCase());
    const [root, head, body] = [make('html'), make('head'), make('body')];
    root.append(head, body);
    const found = (/** @type {(element: Element) => boolean} */ wanted) => root.tree().filter(wanted);
    const document = Object.defineProperties(belongsTo(new InnerTarget(() => (context.detached ? null : context.window)), context), {
        visibilityState: { get: () => (tab.hidden ? 'hidden' : 'visible'), enumerable: true },
        hidden: { get: () => tab.hidden, enumerable: true },
        defaultView: { get: () => (context.detached ? null : context.window) },
        readyState: { value: 'complete' },
        location: { get: () => context.original('location') },
        cookie: { value: '', writable: true },
        ...Object.fromEntries(['URL', 'documentURI'].map((name) => [name, { value: address.href }])),
        baseURI: { value: url.href },
        domain: { value: url.hostname },
        referrer: { value: '' },
        title: { value: '', writable: true },
        characterSet: { value: 'UTF-8' },
        compatMode: { value: 'CSS1Compat' },
        contentType: { value: 'text/html' },
        wasDiscarded: { value: false },
        documentElement: { value: root },
        head: { value: head },
        body: { value: body },
        activeElement: { value: body },
        [Symbol.toStringTag]: { value: 'HTMLDocument' },
    });
    const operations = {
        hasFocus: () => !tab.hidden,
        createElement: make,
        createEvent: (/** @type {unknown} */ name) => createEvent(context, `${name}`),
        getElementById: (/** @type {unknown} */ id) => found((one) => one.getAttribute('id') === `${id}`)[0] ?? null,
        getElementsByTagName: (/** @type {unknown} */ name) => found(({ localName }) => name === '*' || localName === `${name}`.toLowerCase()),
    };
    defineHandlers(document, ['visibilitychange', 'freeze', 'resume']);
    return Object.assign(document, operations);
}
