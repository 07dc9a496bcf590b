import { TabacusEvent } from './tabacus-event.js';

/**
 * How many events are kept for the first listener. If a store fails more often, these show why; later ones
 * are dropped.
 */
const keptEventsMax = 64;

/** The events of a tab. An event whose type has had no listener is kept for the first one. */
export class TabEventTarget extends EventTarget {
    /**
     * Events of types that have had no listener yet. They are kept, because open() may find that a store is
     * lost before the application can listen.
     * @type {TabacusEvent[]}
     */
    #undelivered = [];

    /**
     * Types of events that have had a listener.
     * @type {Set<string>}
     */
    #listened = new Set();

    /** The objects that have listeners (js/core/bridge.js). @type {Set<object>} @internal */
    _kept = new Set();

    /**
     * Adds a listener of `warning`, `storelost` or `capabilitieschange` events. Events that happened before a type had
     * a listener are kept, up to 64 of them, and the first listener of the type gets them.
     *
     * @overload
     * @param {'warning'} type
     * @param {((event: TabacusEvent<import('./tabacus-event.js').WarningDetail>) => void) | null} listener
     * @param {boolean | AddEventListenerOptions} [options]
     * @returns {void}
     */
    /**
     * @overload
     * @param {'storelost'} type
     * @param {((event: TabacusEvent<import('./tabacus-event.js').StoreLostDetail>) => void) | null} listener
     * @param {boolean | AddEventListenerOptions} [options]
     * @returns {void}
     */
    /**
     * @overload
     * @param {'capabilitieschange'} type
     * @param {((event: TabacusEvent<import('./tab.js').Capabilities>) => void) | null} listener
     * @param {boolean | AddEventListenerOptions} [options]
     * @returns {void}
     */
    /**
     * @overload
     * @param {string} type
     * @param {EventListenerOrEventListenerObject | null} listener
     * @param {boolean | AddEventListenerOptions} [options]
     * @returns {void}
     */
    /**
     * @param {string} type
     * @param {any} listener
     * @param {boolean | AddEventListenerOptions} [options]
     */
    addEventListener(type, listener, options) {
        super.addEventListener(type, listener, options);
        if (!listener) return;
        this._kept.add(this);
        if (this.#listened.has(type)) return;
        this.#listened.add(type);
        const kept = this.#undelivered.filter((event) => event.type === type);
        this.#undelivered = this.#undelivered.filter((event) => event.type !== type);
        void Promise.resolve().then(() => kept.forEach((event) => this.dispatchEvent(event)));
    }

    /**
     * Emits a notice of the engine as an event.
     * @param {import('../core/bridge.js').Notice} notice
     * @internal
     */
    _notice({ lost, code, message, previous, subject, recovered }) {
        if (!lost) this._emit('warning', { code, message, subject });
        else this._emit('storelost', { generation: subject, previous, healed: recovered, reason: message });
    }

    /**
     * Emits an event, or keeps it for the first listener of its type.
     *
     * @param {string} type
     * @param {TabacusEvent['detail']} detail
     * @internal
     */
    _emit(type, detail) {
        const event = new TabacusEvent(type, detail);
        if (!this.#listened.has(type)) {
            if (this.#undelivered.length < keptEventsMax) this.#undelivered.push(event);
            return;
        }
        // The core may be running here, and a listener may call the core: so listeners run in a later microtask.
        void Promise.resolve().then(() => this.dispatchEvent(event));
    }
}
