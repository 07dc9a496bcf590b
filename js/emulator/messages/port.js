/** MessageChannel and MessagePort (HTML §9.4): what goes through them is on the origin's schedule. */

import { trusted } from '../../platform/events.js';
import { defineHandlers, idlInterface, internal, onlyInternal } from '../../platform/web-idl.js';
import { postedToWorker } from './post-message.js';
import { makeTransferable } from './transferable.js';
import { belongsTo, isTarget, ReportingTarget } from '../dom/event-target.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('./post-message.js').Posted} Posted */

/** What is in a port's queue: a message, or that its peer is closed. @typedef {{ message?: Posted, from?: number | undefined }} Entry */

export class Port extends ReportingTarget {
    /** @type {Context | undefined} of none, on its way */
    #context;
    /** @type {Port | undefined} */
    #peer;
    /** Its message queue, of which its tasks take the first. @type {Entry[]} */
    #queue = [];
    #started = false;
    /** Was it closed, or transferred? */
    #detached = false;

    /** @param {symbol} key */
    constructor(key) {
        onlyInternal(key);
        super();
        makeTransferable(this, Port.#transferSteps);
    }

    /** @param {any} _message @param {any[]} _options what is transferred, or options */
    postMessage(_message, ..._options) {
        const message = postedToWorker([...arguments], this);
        const peer = this.#peer;
        if (peer) peer.#receive({ message, from: this.#context?.agent });
    }

    start() {
        if (this.#started) return;
        this.#started = true;
        for (const entry of this.#queue) this.#await(entry);
    }

    close() {
        const peer = this.#peer;
        this.#detached = true;
        this.#peer = undefined;
        if (!peer) return;
        peer.#peer = undefined;
        peer.#receive({ from: this.#context?.agent });
        peer.#awaitEnd();
    }

    /** @param {Entry} entry */
    #receive(entry) {
        this.#queue.push(entry);
        if (this.#started) this.#await(entry);
    }

    /** @param {Entry} entry */
    #await({ from }) {
        this.#context?.queueTask(() => this.#deliver(this.#queue.shift()), 'message', from);
    }

    /** The event `close` waits for what was posted before, but not for start(). */
    #awaitEnd() {
        const last = this.#queue.at(-1);
        if (!this.#started && last && !last.message)
            this.#context?.queueTask(
                () => this.#started || this.#deliver(this.#queue.pop()),
                'message',
                last.from,
            );
    }

    /** @param {Entry | undefined} entry none: the queue went over with the port */
    #deliver(entry) {
        const context = this.#context;
        if (!entry || !context) return;
        if (entry.message) context.firePosted(this, entry.message);
        else context.fire(this, trusted(Event, 'close'));
    }

    /** @param {Port} one @param {Port} other */
    static entangle(one, other) {
        [one.#peer, other.#peer] = [other, one];
    }

    /** @param {Port} port @param {Context} context where it is from here on */
    static arrive(port, context) {
        port.#context = context;
        belongsTo(port, context);
        port.#awaitEnd();
    }

    /** @type {import('./transferable.js').TransferSteps} */
    static #transferSteps = {
        isDetached: (port) => port.#detached,
        transfer: (port) => Port.#transfer(port),
    };

    /** §9.4.4's transfer steps: what it becomes elsewhere, with what it has not delivered. @param {Port} port @returns {Port} */
    static #transfer(port) {
        const heir = new Port(internal);
        [heir.#queue, port.#queue] = [port.#queue, []];
        [heir.#peer, port.#peer] = [port.#peer, undefined];
        if (heir.#peer) heir.#peer.#peer = heir;
        port.#detached = true;
        return heir;
    }
}
defineHandlers(Port.prototype, ['message', 'messageerror', 'close'], {}, isTarget);
idlInterface(Port, 'MessagePort');

/** Setting its handler starts a port. */
const onmessage = /** @type {PropertyDescriptor} */ (
    Object.getOwnPropertyDescriptor(Port.prototype, 'onmessage')
);
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
