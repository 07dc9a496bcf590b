/** A window's document: its state, and only those elements that scripts need to open frames. */

import { BodyElement, Element, selected, Text } from './element.js';
import { trusted } from '../../platform/events.js';
import { defineHandlers } from '../../platform/web-idl.js';
import { runScript } from '../scripts/run-script.js';
import { belongsTo, InnerTarget } from './event-target.js';
import { tracked } from '../host/host-work.js';
import { textOf } from '../scripts/text-of-url.js';

/** @typedef {import('../context.js').Context} Context */

/** The parts of a text in HTML: its scripts, those within it, and the attributes of its body. */
const parts = /<script\b[^>]*>([^]*?)<\/script\s*>|<body\b((?:[^>"']|"[^"]*"|'[^']*')*)>/gi;

/** HTML §13.1.2.3 */
const attributes = /([^\s"'<>/=]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/g;

/** Fills a frame's document from a text in HTML. @param {Context} frame @param {string} html */
function fill(frame, html) {
    for (const [, script, body = ''] of html.matchAll(parts)) {
        if (script !== undefined) frame.guard(() => runScript(frame, script));
        for (const [, name = '', ...values] of body.matchAll(attributes)) {
            frame
                .original('document')
                .body.setAttribute(name, values.find((value) => value !== undefined) ?? '');
        }
    }
}

/** HTML §7.1.6, the sandboxing flags. @param {string | null | undefined} sandbox @param {'same-origin' | 'scripts'} what */
export const allows = (sandbox, what) =>
    sandbox == null ||
    sandbox
        .toLowerCase()
        .split(/[\t\n\f\r ]+/)
        .includes(`allow-${what}`);

/** HTML §4.8.5: a frame while it is in the document, of this origin. It shows its srcdoc or blob. */
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
        return src !== null && URL.canParse(src, this.#parent.url)
            ? new URL(src, this.#parent.url).href
            : (src ?? '');
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
        // The emulator does not run frames of other origins.
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
        const html =
            address === 'about:srcdoc'
                ? this.srcdoc
                : await tracked(frame, textOf(new URL(address)), 'the document of a frame').catch(() => '');
        frame.queueTask(() => {
            if (scripted) fill(frame, html);
            frame.fire(frame.window, trusted(Event, 'load'));
            this.#parent.queueTask(() => this.#loaded(frame));
        });
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

/** @param {Context} context @param {Element} root */
function operationsOf(context, root) {
    const make = (/** @type {unknown} */ name) => createElement(context, `${name}`.toLowerCase());
    const query = (/** @type {unknown} */ selector) => selected([root], `${selector}`);
    const found = (/** @type {(element: Element) => boolean} */ wanted) => root.tree().filter(wanted);
    return {
        hasFocus: () => !context.tab.hidden,
        createElement: make,
        createElementNS: (/** @type {unknown} */ _namespace, /** @type {unknown} */ name) => make(name),
        createTextNode: (/** @type {unknown} */ data) => new Text(context, `${data}`),
        querySelector: (/** @type {unknown} */ selector) => query(selector)[0] ?? null,
        querySelectorAll: query,
        createEvent: (/** @type {unknown} */ name) => createEvent(context, `${name}`),
        getElementById: (/** @type {unknown} */ id) =>
            found((one) => one.getAttribute('id') === `${id}`)[0] ?? null,
        getElementsByTagName: (/** @type {unknown} */ name) =>
            found(({ localName }) => name === '*' || localName === `${name}`.toLowerCase()),
    };
}

/** @param {Context} context @returns {any} */
export function documentOf(context) {
    const { tab, address, url } = context;
    const [root, head, body] = [
        createElement(context, 'html'),
        createElement(context, 'head'),
        createElement(context, 'body'),
    ];
    root.append(head, body);
    const document = Object.defineProperties(
        belongsTo(new InnerTarget(() => (context.detached ? null : context.window)), context),
        {
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
        },
    );
    defineHandlers(document, ['visibilitychange', 'freeze', 'resume']);
    return Object.assign(document, operationsOf(context, root));
}
