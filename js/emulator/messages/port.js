/** MessageChannel and MessagePort (HTML §9.4). Their messages are on the schedule of the origin. */

import { trusted } from '../../platform/events.js';
import { defineHandlers, idlInterface, internal, onlyInternal } from '../../platform/web-idl.js';
import { postedToWorker } from './post-message.js';
import { makeTransferable } from './transferable.js';
import { belongsTo, isTarget, ReportingTarget } from '../dom/event-target.js';

/** @typedef {import('../context.js').Context} Context */
/** @typedef {import('./post-message.js').Posted} Posted */

/**
 * An entry in the queue of a port: a message, or the notice that its peer is closed.
 *
 * @typedef {{ message?: Posted, from?: number | undefined }} Entry
 */

export class Port extends ReportingTarget {
    /** The context of the port; undefined while it is being transferred. @type {Context | undefined} */
    #context;
    /** @type {Port | undefined} */
    #peer;
    /** Its message queue. Each of its tasks takes the first entry. @type {Entry[]} */
    #queue = [];
    #started = false;
    /** Whether it was closed or transferred. */
    #detached = false;

    /** @param {symbol} key */
    constructor(key) {
        onlyInternal(key);
        super();
        makeTransferable(this, Port.#transferSteps);
    }

    /** @param {any} _message @param {any[]} _options the objects to transfer, or options */
    postMessage(_message, ..._options) {
        const message = postedToWorker([...arguments], this);
        const peer = this.#peer;
        const { kind, active } = this.#context ?? {};
        // A worker that has closed itself still posts.
        if (peer && (active || kind !== 'window')) peer.#receive({ message, from: this.#context?.agent });
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

    /** Queues the event `close`. It waits for the messages that were posted before it, but not for start(). */
    #awaitEnd() {
        const last = this.#queue.at(-1);
        if (!this.#started && last && !last.message)
            this.#context?.queueTask(
                () => this.#started || this.#deliver(this.#queue.pop()),
                'message',
                last.from,
            );
    }

    /** @param {Entry | undefined} entry undefined if the queue was transferred with the port */
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

    /** Attaches a port to a context. @param {Port} port @param {Context} context */
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

    /**
     * Returns the port that replaces a transferred one, with the undelivered messages (§9.4.4, transfer steps).
     *
     * @param {Port} port
     * @returns {Port}
     */
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

/** The accessor `onmessage`. Setting it starts the port. */
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
