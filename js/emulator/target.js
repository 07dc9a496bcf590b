/** Event targets whose listeners' errors go to the global object they belong to (DOM §2.10, "inner invoke"). */

/** @typedef {import('./context.js').Context} Context */

/** @type {WeakMap<object, Context>} */
const contexts = new WeakMap();

/** One for each listener, so that it is added once and can be removed. @type {WeakMap<object, (event: Event) => unknown>} */
const guarded = new WeakMap();

/** @param {any} listener a function, an object with handleEvent(), or what no listener is */
export function guardedListener(listener) {
    if ((typeof listener !== 'function' && typeof listener !== 'object') || listener === null) return listener;
    const known = guarded.get(listener);
    if (known) return known;
    /** @this {EventTarget} @param {Event} event */
    const call = function (event) {
        const invoke = () => (typeof listener === 'function' ? Reflect.apply(listener, this, [event]) : listener.handleEvent(event));
        const context = contexts.get(this);
        return context ? context.invoke(invoke) : invoke();
    };
    guarded.set(listener, call);
    return call;
}

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

/** @template {EventTarget} Target @param {Target} target @param {Context} context */
export function belongsTo(target, context) {
    contexts.set(target, context);
    return target;
}
