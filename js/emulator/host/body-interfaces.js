/**
 * Blob, File, Request and Response of a context. Browsers read them in another process, and versions of Node by tasks of
 * their own, so their contents are delivered on the schedule.
 */

import { tracked } from './host-work.js';

/** @typedef {import('../context.js').Context} Context */

/** The operations that read a blob or a body as a whole. */
const readers = ['arrayBuffer', 'blob', 'bytes', 'formData', 'json', 'text'];

/** The bodies that are streams of a script. They may wait for further events of the tab. @type {WeakSet<object>} */
const streamed = new WeakSet();

/**
 * Whether a Request or Response with these arguments has a body that is a stream of a script.
 *
 * @param {any[]} given a body, or a request, and the members that replace its own
 */
function isStreamed([source, init]) {
    const { body } = Object(init);
    if (source instanceof ReadableStream || streamed.has(init)) return true;
    if (body === undefined || body === null) return streamed.has(source);
    return body instanceof ReadableStream && !(init instanceof Request);
}

/**
 * Reads a body that is a stream of a script. That may wait for the tab, and needs nothing of the host.
 *
 * @param {any} given a request or a response
 * @returns {Promise<any>} resolves to a response of the host with its bytes and headers
 */
async function loadedBody(given) {
    if (given.bodyUsed) throw new TypeError('the body has been read already');
    const reader = given.body.getReader();
    const chunks = [];
    for (;;) {
        const { done, value } = await reader.read();
        if (done) break;
        if (!(value instanceof Uint8Array)) throw new TypeError('a chunk of the body is no Uint8Array');
        chunks.push(value.slice());
    }
    return new Response(new Blob(chunks), { headers: given.headers });
}

/**
 * Makes an interface that inherits from that of the host. Objects of the host are its instances, too, since a
 * structured clone makes them.
 *
 * @param {Context} context
 * @param {string} name
 * @returns {any}
 */
function bodyInterface(context, name) {
    const Host = /** @type {any} */ (globalThis)[name];
    class Adapted extends Host {
        /** @param {any[]} given */
        constructor(...given) {
            super(...given);
            if (isStreamed(given)) streamed.add(this);
        }

        /** @param {any} value */
        static [Symbol.hasInstance](value) {
            return this === Adapted
                ? value instanceof Host
                : Function.prototype[Symbol.hasInstance].call(this, value);
        }
    }
    const { prototype } = Adapted;
    for (const reader of readers.filter((one) => one in Host.prototype)) {
        const { [reader]: value } = {
            /** @this {any} */
            async [reader]() {
                const loaded = streamed.has(this) ? await loadedBody(this) : undefined;
                const work = loaded ? loaded[reader]() : Host.prototype[reader].call(this);
                return tracked(context, work, `${name}.${reader}()`);
            },
        };
        Object.defineProperty(prototype, reader, { value, writable: true, configurable: true });
    }
    defineCopiers(context, prototype, Host);
    if ('stream' in Host.prototype) defineStream(context, prototype, Host);
    for (const key of Object.keys(Object.getOwnPropertyDescriptors(prototype)))
        Object.defineProperty(prototype, key, { enumerable: key !== 'constructor' });
    return Object.defineProperties(Adapted, { name: { value: name }, length: { value: Host.length } });
}

/** Defines the operations that return another blob or body. @param {Context} context @param {any} prototype @param {any} Host */
function defineCopiers(context, prototype, Host) {
    for (const copier of ['clone', 'slice'].filter((one) => one in Host.prototype)) {
        const { [copier]: value } = {
            /** @this {any} @param {any[]} given */
            [copier](...given) {
                const copy = Host.prototype[copier].apply(this, given);
                if (streamed.has(this)) streamed.add(copy);
                return Object.setPrototypeOf(
                    copy,
                    copier === 'slice' ? context.window.Blob.prototype : prototype,
                );
            },
        };
        Object.defineProperty(prototype, copier, { value, writable: true, configurable: true });
    }
}

/** Defines stream() of a blob, which tracks each chunk. @param {Context} context @param {any} prototype @param {any} Host */
function defineStream(context, prototype, Host) {
    const value = {
        /** @this {any} */
        stream() {
            const reader = Host.prototype.stream.call(this).getReader();
            return new ReadableStream({
                async pull(controller) {
                    const { done, value: chunk } = await tracked(
                        context,
                        reader.read(),
                        'a chunk of Blob.stream()',
                    );
                    if (done) controller.close();
                    else controller.enqueue(chunk);
                },
                cancel: (reason) => reader.cancel(reason),
            });
        },
    }.stream;
    Object.defineProperty(prototype, 'stream', { value, writable: true, configurable: true });
}

/** @type {Record<string, (context: Context) => unknown>} */
export const BODY_INTERFACES = Object.fromEntries(
    ['Blob', 'File', 'Request', 'Response'].map((name) => [
        name,
        (/** @type {Context} */ context) => bodyInterface(context, name),
    ]),
);

/**
 * Makes a response of the host one of the context.
 *
 * @param {Context} context
 * @param {Response} response
 * @returns {Response}
 */
export function adopted(context, response) {
    void context.window.Response; // makes the interface
    const made = /** @type {any} */ (context.made.get('Response'));
    return made ? Object.setPrototypeOf(response, made.prototype) : response;
}
