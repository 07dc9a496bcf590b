/** MessageChannel and MessagePort (HTML §9.4): what goes through them is on the origin's schedule. */

import { source } from './core.js';
import { defineHandlers, idlInterface, internal, onlyInternal } from './idl.js';
import { postedToWorker } from './post.js';
import { belongsTo, ReportingTarget } from './target.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('./post.js').Posted} Posted */

export class Port extends ReportingTarget {
    /** @type {Context | undefined} of none, on its way */
    #context;
    /** @type {Port | undefined} */
    #peer;
    /** What came before it was started. @type {Posted[] | undefined} none: it is started */
    #early = [];
    /** As what it arrived elsewhere. @type {Port | undefined} */
    #heir;

    /** @param {symbol} key */
    constructor(key) {
        onlyInternal(key);
        super();
    }

    /** @param {any} _message @param {any} [_options] what is transferred, or options */
    postMessage(_message, _options) {
        const message = postedToWorker([...arguments], this);
        const peer = this.#peer;
        if (peer) peer.#receive(message, this.#context?.agent);
    }

    start() {
        const early = this.#early ?? [];
        this.#early = undefined;
        for (const message of early) this.#receive(message);
    }

    close() {
        if (this.#peer) this.#peer.#peer = undefined;
        this.#peer = undefined;
    }

    /** @param {Posted} message @param {number} [from] @returns {void} */
    #receive(message, from) {
        if (this.#heir) return this.#heir.#receive(message, from);
        if (this.#early || !this.#context) return void this.#early?.push(message);
        const context = this.#context;
        context.queueTask(() => (this.#heir ? this.#heir.#receive(message, from) : context.firePosted(this, message)), source.message, from);
    }

    /** @param {Port} one @param {Port} other */
    static entangle(one, other) {
        [one.#peer, other.#peer] = [other, one];
    }

    /** @param {Port} port @param {Context} context where it is from here on */
    static arrive(port, context) {
        port.#context = context;
        belongsTo(port, context);
    }

    /** Has it been transferred? @param {Port} port */
    static isDetached(port) {
        return port.#heir !== undefined;
    }

    /** §9.4.4's transfer steps: what it becomes elsewhere. @param {Port} port @returns {Port} */
    static transfer(port) {
        const heir = new Port(internal);
        port.#heir = heir;
        heir.#early = port.#early ?? [];
        heir.#peer = port.#peer;
        if (heir.#peer) heir.#peer.#peer = heir;
        return heir;
    }
}
defineHandlers(Port.prototype, ['message', 'messageerror', 'close']);
idlInterface(Port, 'MessagePort');

/** Setting its handler starts a port. */
const onmessage = /** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(Port.prototype, 'onmessage'));
Object.defineProperty(Port.prototype, 'onmessage', {
    ...onmessage,
    /** @this {Port} @param {unknown} handler */
    set(handler) {
        onmessage.set?.call(this, handler);
        this.start();
    },
});

/** @param {Context} context @returns {any} */
export function messageChannelInterface(context) {
    class MessageChannel {
        #ports = [new Port(internal), new Port(internal)];

        constructor() {
            const [one, other] = /** @type {[Port, Port]} */ (this.#ports);
            Port.entangle(one, other);
            for (const port of this.#ports) Port.arrive(port, context);
        }

        get port1() {
            return this.#ports[0];
        }
        get port2() {
            return this.#ports[1];
        }
    }
    return idlInterface(MessageChannel, 'MessageChannel');
}
