/** BroadcastChannel (HTML §9.5), over the channels of the rules. */

import { defineHandlers, idlInterface, requireArguments } from '../../platform/web-idl.js';
import { shorten } from '../common/describe.js';
import { belongsTo, inheritEventTarget, isTarget, ReportingTarget } from '../dom/event-target.js';

/** @typedef {import('../context.js').Context} Context */

/** The broadcast messages of one origin that are under way. The rules know them by number. */
export class BroadcastMessages {
    /** @type {Map<number, { data: unknown, receivers: number }>} */
    #messages = new Map();
    #last = 0;

    /**
     * Posts a message.
     *
     * @param {unknown} data serialized
     * @param {(number: number) => number} post returns how many endpoints receive it
     */
    send(data, post) {
        const number = ++this.#last;
        const receivers = post(number);
        if (receivers > 0) this.#messages.set(number, { data, receivers });
    }

    /** Returns a message for one of its receivers. The last one takes it. @param {number} number */
    take(number) {
        const message = this.#messages.get(number);
        if (message && --message.receivers === 0) this.#messages.delete(number);
        return message?.data;
    }
}

/**
 * The prefix of the names of channels, so that those of an opaque origin reach no other origin.
 *
 * @param {Context} context
 */
const reachOf = ({ opaque }) => (opaque === undefined ? '' : `\0${opaque}/`);

/** @param {Context} context @returns {any} */
export const broadcastChannelInterface = (context) => {
    class BroadcastChannel extends ReportingTarget {
        #name;
        #endpoint;
        #closed = false;

        /** @param {any} name */
        constructor(name) {
            requireArguments("construct 'BroadcastChannel'", arguments, 1);
            super();
            belongsTo(this, context);
            this.#name = `${name}`;
            this.#endpoint = context.rules.calls.openChannel(context.id, reachOf(context) + this.#name);
            context.channels.set(this.#endpoint, (data) => this.#receive(data));
        }

        get name() {
            return this.#name;
        }

        /** @param {any} message */
        postMessage(message) {
            requireArguments("execute 'postMessage' on 'BroadcastChannel'", arguments, 1);
            if (!context.fullyActive) return;
            if (this.#closed) throw new DOMException('the channel is closed', 'InvalidStateError');
            const data = context.serialize(message);
            post(context, this.#endpoint, context.tab.recordFormat?.sent(this.#name, data) ?? data);
        }

        close() {
            if (this.#closed) return;
            this.#closed = true;
            context.channels.delete(this.#endpoint);
            context.rules.calls.closeChannel(this.#endpoint);
        }

        /** @param {unknown} data */
        #receive(data) {
            context.rules.trace(context.id, 'channel', () => `receives ${shorten(textOf(data))}`);
            context.fireMessage(this, context.tab.recordFormat?.received(this.#name, data) ?? data);
        }
    }
    inheritEventTarget(idlInterface(BroadcastChannel, 'BroadcastChannel', { length: 1 }));
    defineHandlers(BroadcastChannel.prototype, ['message', 'messageerror'], {}, isTarget);
    return BroadcastChannel;
};

/** @param {Context} context @param {number} endpoint @param {any} data */
function post({ id, rules, origin }, endpoint, data) {
    rules.trace(id, 'channel', () => `posts ${shorten(textOf(data))}`);
    origin.broadcasts.send(data, (message) => rules.calls.post(id, endpoint, message));
    origin.wake();
}

/** The text of a message in a trace. @param {unknown} data */
function textOf(data) {
    if (typeof data === 'string') return data;
    try {
        return JSON.stringify(data) ?? String(data);
    } catch {
        return 'a message';
    }
}
