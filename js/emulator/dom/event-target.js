/** Event targets that report listeners' errors to their global object (DOM §2.10, "inner invoke"). */

import { madeUnlimited } from '../common/listener-limit.web.js';

/** @typedef {import('../context.js').Context} Context */

/** @type {WeakMap<object, Context>} */
const contexts = new WeakMap();

/** One for each listener, so that it is added once and can be removed. @type {WeakMap<object, (event: Event) => unknown>} */
const guarded = new WeakMap();

/** What an outer target's listeners were added with. @typedef {{ type: string, listener: any, capture: boolean, once: boolean, signal?: AbortSignal }} Entry */

/** The entries of outer targets. @type {WeakMap<object, Entry[]>} */
const entriesOf = new WeakMap();

/** @param {any} listener a function, an object with handleEvent(), or what no listener is */
export function guardedListener(listener) {
    if ((typeof listener !== 'function' && typeof listener !== 'object') || listener === null)
        return listener;
    const known = guarded.get(listener);
    if (known) return known;
    /** @this {EventTarget} @param {Event} event */
    const call = function (event) {
        const invoke = () =>
            typeof listener === 'function'
                ? Reflect.apply(listener, this, [event])
                : listener.handleEvent(event);
        forgetOnce(this, event.type, listener);
        const context = contexts.get(this);
        if (context) return context.runs ? context.callListener(event, invoke) : undefined;
        return invoke();
    };
    guarded.set(listener, call);
    return call;
}

const { dispatchEvent } = EventTarget.prototype;

/** Dispatches, even if a page has replaced dispatchEvent(). @param {EventTarget} target @param {Event} event @returns {boolean} false: it was cancelled */
export const dispatched = (target, event) =>
    Reflect.apply(
        target instanceof InnerTarget ? InnerTarget.prototype.dispatchEvent : dispatchEvent,
        target,
        [event],
    );

export class ReportingTarget extends EventTarget {
    /** @param {string} type @param {any} listener @param {any} [options] */
    addEventListener(type, listener, options) {
        super.addEventListener(type, guardedListener(listener), options);
    }

    /** @param {string} type @param {any} listener @param {any} [options] */
    removeEventListener(type, listener, options) {
        super.removeEventListener(type, guardedListener(listener), options);
    }
}

/** @param {EventTarget} target @param {string} type @param {unknown} listener which was called */
function forgetOnce(target, type, listener) {
    const entries = entriesOf.get(target);
    const at = entries?.findIndex((one) => one.once && one.type === type && one.listener === listener) ?? -1;
    if (at >= 0) entries?.splice(at, 1);
}

/** A target that also receives the events of targets within it (DOM §2.9). Event targets of Node do not. */
export class OuterTarget extends ReportingTarget {
    /** @param {string} type @param {any} listener @param {any} [options] */
    addEventListener(type, listener, options) {
        super.addEventListener(type, listener, options);
        const { capture, once, signal } = Object(
            typeof options === 'boolean' ? { capture: options } : options,
        );
        const entry = { type: `${type}`, listener, capture: Boolean(capture), once: Boolean(once), signal };
        const entries = entriesOf.get(this) ?? [];
        entriesOf.set(this, entries);
        if (listener && !signal?.aborted && findEntry(entries, entry) < 0) entries.push(entry);
    }

    /** @param {string} type @param {any} listener @param {any} [options] */
    removeEventListener(type, listener, options) {
        super.removeEventListener(type, listener, options);
        const entries = entriesOf.get(this) ?? [];
        const capture = Boolean(typeof options === 'object' ? options?.capture : options);
        const at = findEntry(entries, { type: `${type}`, listener, capture });
        if (at >= 0) entries.splice(at, 1);
    }
}

/** @param {Entry[]} entries @param {{ type: string, listener: unknown, capture: boolean }} wanted */
const findEntry = (entries, { type, listener, capture }) =>
    entries.findIndex((one) => one.type === type && one.listener === listener && one.capture === capture);

/** A target within an outer target: an event path of two targets (DOM §2.9). */
export class InnerTarget extends ReportingTarget {
    /** @type {() => EventTarget | null} */
    #outer;

    /** @param {() => EventTarget | null} outer */
    constructor(outer) {
        super();
        this.#outer = outer;
    }

    /** @param {Event} event */
    dispatchEvent(event) {
        const outer = this.#outer();
        const awaited =
            outer && event instanceof Event && entriesOf.get(outer)?.some(({ type }) => type === event.type);
        if (!awaited) return super.dispatchEvent(event);
        let ended = '';
        const stops = ['stopPropagation', 'stopImmediatePropagation'].map((name) => [
            name,
            () => {
                ended = name;
                if (event.eventPhase === Event.AT_TARGET)
                    /** @type {any} */ (Event.prototype)[name].call(event);
            },
        ]);
        const passes = (/** @type {number} */ phase) =>
            this.#pass(outer, event, phase, () => ended === 'stopImmediatePropagation');
        const dispatch = () => {
            passes(Event.CAPTURING_PHASE);
            if (!ended) super.dispatchEvent(event);
            if (!ended && event.bubbles) passes(Event.BUBBLING_PHASE);
        };
        having(event, Object.fromEntries(stops), dispatch);
        return !event.defaultPrevented;
    }

    /** @param {EventTarget} outer @param {Event} event @param {number} phase @param {() => boolean} ended */
    #pass(outer, event, phase, ended) {
        const entries = entriesOf.get(outer) ?? [];
        const capture = phase === Event.CAPTURING_PHASE;
        const listening = entries.filter((one) => one.type === event.type && one.capture === capture);
        const call = () => {
            for (const { listener, once, signal } of listening) {
                if (
                    ended() ||
                    signal?.aborted ||
                    findEntry(entries, { type: event.type, listener, capture }) < 0
                )
                    continue;
                if (once) outer.removeEventListener(event.type, listener, capture);
                guardedListener(listener).call(outer, event);
            }
        };
        having(
            event,
            {
                target: this,
                srcElement: this,
                currentTarget: outer,
                eventPhase: phase,
                composedPath: () => [this, outer],
            },
            call,
        );
    }
}

/** Calls while an event has other properties. @param {Event} event @param {Record<string, unknown>} properties @param {() => void} call */
function having(event, properties, call) {
    for (const [name, value] of Object.entries(properties))
        Object.defineProperty(event, name, { value, configurable: true });
    try {
        call();
    } finally {
        for (const name of Object.keys(properties)) Reflect.deleteProperty(event, name);
    }
}

/** @template {EventTarget} Target @param {Target} target @param {Context} context */
export function belongsTo(target, context) {
    contexts.set(target, context);
    madeUnlimited(target);
    return target;
}

/** Does it belong to a context, as no prototype does? @param {object} target */
export const isTarget = (target) => contexts.has(target);

/** Web IDL §3.7.1: what scripts see an interface inherit is EventTarget; what ours adds to it goes over. @param {Function} Interface */
export function inheritEventTarget(Interface) {
    for (const name of /** @type {const} */ (['addEventListener', 'removeEventListener'])) {
        Object.defineProperty(Interface.prototype, name, {
            value: ReportingTarget.prototype[name],
            writable: true,
            configurable: true,
        });
    }
    Object.setPrototypeOf(Interface, EventTarget);
    Object.setPrototypeOf(Interface.prototype, EventTarget.prototype);
}
