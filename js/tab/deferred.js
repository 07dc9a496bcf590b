/**
 * Objects that a tab returns at once, while their class is not loaded. Such an object passes each call on as soon as the
 * class is there, and from then on it is an instance of that class: no call goes through here any more.
 */

import {
    asPassed,
    checkFunction,
    checkInteger,
    checkOneOf,
    checkOptions,
} from '../common/check-arguments.js';
import { Successor } from '../common/successor.js';
import { addHandler } from '../queue/queue-options.js';

/** @typedef {'locks' | 'leader' | 'queues' | 'limits'} PartName */
/** @typedef {import('../common/lazy.js').Lazy<any>} Part what makes an object an instance of its class, in adopt() */

/** @param {unknown} value one that cannot be cloned is returned, for a later check to refuse */
function cloned(value) {
    try {
        return structuredClone(value);
    } catch {
        return value;
    }
}

/** @param {any} object @param {string} method @param {any[]} args */
const invoke = (object, method, args) => Reflect.apply(object[method], object, args);

/**
 * Calls a method of a part of the package, or of an object that the part adopts, once the part is loaded, with the
 * arguments as they are now. All calls wait for one promise, so that they keep their order.
 *
 * @param {import('./tab.js').Tab} tab
 * @param {Part} part
 * @param {string} method
 * @param {any[]} args
 * @param {(loaded: any) => any} [receiver]
 * @returns {Promise<any>}
 */
export async function ask(tab, part, method, [first, ...rest], receiver = (loaded) => loaded) {
    tab._assertOpen();
    // The first argument of these is a value of the application, not options.
    const kept = [(/enqueue|call/.test(method) ? cloned : asPassed)(first), ...rest.map(asPassed)];
    return invoke(receiver(part.value ?? (await part.get())), method, kept);
}

export class Deferred {
    #tab;
    #part;
    #become;

    /**
     * @param {import('./tab.js').Tab} tab
     * @param {Part} part
     * @param {string} kind
     * @param {string} name
     * @param {Record<string, any>} options
     */
    constructor(tab, part, kind, name, options) {
        this.name = name;
        this.#tab = tab;
        this.#part = part;
        this.#become = (/** @type {any} */ loaded) => {
            if (!(this instanceof Successor)) loaded.adopt(this, kind, options, tab);
            return this;
        };
        if (kind !== 'queue') Object.assign(this, options);
        if ('size' in this || 'available' in this) this._register(); // so that it is known soon
    }

    /**
     * @param {string} method
     * @param {any[]} args
     */
    _ask(method, args) {
        return ask(this.#tab, this.#part, method, args, this.#become);
    }

    /**
     * Registers a function, as soon as the class is loaded after all if that fails now.
     *
     * @param {string} [method] returns a function that ends it; without one, the class is loaded, and no more
     * @param {any[]} args
     */
    _register(method, ...args) {
        const [tab, part] = [this.#tab, this.#part];
        if (method) tab._assertOpen();
        let ended = false;
        let end = () => {};
        const begin = async () => {
            try {
                tab._assertOpen();
                this.#become(await part.get());
                if (method && !ended) end = invoke(this, method, args);
            } catch (error) {
                if (method) tab._refused(error, this.name, !part.value);
                end = part.whenLoaded(begin);
                if (ended) end();
            }
        };
        void begin();
        return () => {
            ended = true;
            end();
        };
    }

    /** Ends it once what was asked of it has been passed on. */
    async _end() {
        await this.#part.started?.catch(() => {}); // reported by its calls
        if (this instanceof Successor) this._end();
    }
}

/**
 * Adds methods to a class of deferred objects.
 *
 * @param {string} methods their names: all public methods of the class that is loaded later
 * @param {typeof Deferred} [type] may have some of them
 */
function deferring(methods, type = class extends Deferred {}) {
    /** @type {any} */
    const { prototype } = type;
    for (const method of methods.split(' ')) {
        prototype[method] ??=
            method === 'subscribe'
                ? /** @this {Deferred} @param {unknown} listener */
                  function (listener) {
                      checkFunction('listener', listener);
                      return this._register(method, listener);
                  }
                : /** @this {Deferred} @param {...any} args */
                  function (...args) {
                      return this._ask(method, args);
                  };
    }
    return type;
}

class DeferredQueue extends Deferred {
    /** @type {Set<import('../queue/queue-options.js').Handled>} */
    #handled = new Set();

    /** The queue is not loaded, so no jobs of it are known. */
    get size() {
        return 0;
    }

    /** @param {unknown} first @param {unknown} second */
    handle(first, second) {
        return addHandler(this.#handled, (...own) => this._register('handle', ...own), first, second);
    }
}

class DeferredBudget extends Deferred {
    get available() {
        return /** @type {any} */ (this).limit;
    }
}

/** What the core counts with. */
const integerMax = 2 ** 31 - 1;

/**
 * What an option may be: one of some values, of which the first is the default; or an integer from `least` to `most`.
 * Where this is Infinity, so may the option be, which the core knows as 0; a number is one that the core counts with.
 *
 * @typedef {readonly string[] | readonly boolean[] | readonly [byDefault: number | undefined, least: number, most: number]} Range
 */

/**
 * The kinds of these objects: the part that each is loaded with, its class until then, and its options, which are an
 * agreement of all tabs.
 *
 * @satisfies {Record<string, [part: PartName, type: typeof Deferred, options?: Record<string, Range>]>}
 */
export const kinds = {
    lock: ['locks', deferring('run acquire isLocked waitForUnlock query subscribe')],
    leader: ['locks', deferring('run lead call current subscribe')],
    semaphore: ['leader', deferring('run acquire'), { permits: [undefined, 1, 64] }],
    queue: [
        'queues',
        deferring(
            'enqueue handle pause resume cancel clear jobs deadLetters onIdle subscribe',
            DeferredQueue,
        ),
        {
            order: ['fifo', 'lifo'],
            onFailure: ['continue', 'pause'],
            durability: ['relaxed', 'strict'],
            delivery: ['at-least-once', 'at-most-once'],
            concurrency: [1, 1, 64],
            attempts: [3, 1, Infinity],
            backOff: [1_000, 0, 3_600_000],
            limit: [Infinity, 1, Infinity],
        },
    ],
    sequence: ['limits', deferring('next reserve'), { block: [1_000, 1, 1e9], gapless: [false, true] }],
    budget: [
        'limits',
        deferring('tryTake give', DeferredBudget),
        { limit: [undefined, 0, Number.MAX_SAFE_INTEGER] },
    ],
    rateLimit: [
        'limits',
        deferring('take tryTake'),
        { limit: [undefined, 1, 1e9], interval: [undefined, 1, integerMax] },
    ],
};

/**
 * @param {unknown} given
 * @param {Record<string, Range>} [ranges]
 */
export function checkAgreement(given, ranges = {}) {
    const options = checkOptions(given, Object.keys(ranges));
    /** @type {Record<string, any>} */
    const checked = {};
    for (const [name, range] of Object.entries(ranges)) {
        const [byDefault, least, most] = range;
        const { [name]: value = byDefault } = options;
        if (typeof least !== 'number') checked[name] = checkOneOf(name, value, /** @type {any} */ (range));
        else if (most !== Infinity) checked[name] = checkInteger(name, value, least, Number(most));
        else if (value === most) checked[name] = 0;
        else checked[name] = checkInteger(name, value, least, integerMax, ', or Infinity');
    }
    return checked;
}
