/**
 * Deferred objects: the locks, queues and limits that a tab returns at once, before their class is loaded. A
 * deferred object keeps its calls until the class is loaded. Then it becomes an instance of that class, and
 * later calls go directly to the class.
 */

import {
    asPassed,
    checkFunction,
    checkInteger,
    checkOneOf,
    checkOptions,
} from '../common/check-arguments.js';
import { checkSignal, checkTimeout } from '../common/check-waits.js';
import { Successor } from '../common/successor.js';
import { addHandler } from '../queue/queue-options.js';

/** The parts of the package that are loaded when they are first used. @typedef {'locks' | 'leader' | 'queues' | 'limits' | 'transfers'} PartName */
/** @typedef {import('../common/lazy.js').Lazy<any>} Part its adopt() makes a deferred object an instance of its class */

/**
 * Returns a clone. A value that cannot be cloned is returned itself: a later check refuses it.
 *
 * @param {unknown} value
 */
function cloned(value) {
    try {
        return structuredClone(value);
    } catch {
        return value;
    }
}

/** Returns one of the options that end the wait of a call, if there is any. @param {any} options */
const endOf = (options) => options?.signal ?? options?.releaseSignal ?? options?.timeout;

/** Calls a method. @param {any} object @param {string} method @param {any[]} args */
const invoke = (object, method, args) => Reflect.apply(object[method], object, args);

/**
 * Calls a method of a part of the package, or of an object that the part adopts, once the part is loaded. The
 * method gets the arguments as they are at this moment. All calls wait for the same promise, so they keep
 * their order.
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
    // The first argument of enqueue() and of call() is a value of the application, not options.
    const passesValue = /enqueue|call/.test(method);
    const kept = [(passesValue ? cloned : asPassed)(first), ...rest.map(asPassed)];
    const begun = (/** @type {any} */ loaded) => invoke(receiver(loaded), method, kept);
    if (part.value) return begun(part.value);
    const options = (passesValue ? kept.slice(1) : kept).find((one) => endOf(one) !== undefined);
    return options ? askWithin(tab, part, options, begun) : begun(await part.get());
}

/**
 * Waits for a part as long as the options of a call allow, since loading waits for the database, too. Then makes the
 * call, whose `timeout` is what is left.
 *
 * @param {import('./tab.js').Tab} tab
 * @param {Part} part
 * @param {any} options a copy
 * @param {(loaded: any) => any} begin makes the call
 */
async function askWithin(tab, part, options, begin) {
    const { signal, releaseSignal, timeout } = options;
    const end_ms = tab._clock.monotonic() + timeout;
    let over = false;
    // This waits for the same promise as ask() does, and for no other, so that the calls keep their order.
    const call = part.get().then((loaded) => {
        if (over) return undefined;
        if (timeout > 0) options.timeout = Math.max(0, end_ms - tab._clock.monotonic());
        return begin(loaded);
    });
    call.catch(() => {}); // the wait for the part rejects first
    const ends = { signal, releaseSignal, timeout };
    await waitWithin(tab, ends, part.get(), Object.keys(ends)).catch((error) => {
        over = true;
        throw error;
    });
    return call;
}

/** The shortest time after which a browser counts as not answering, as in js/common/wait-end.js. */
const answerMsMin = 1_000;

/**
 * Waits for work as long as options allow. It needs no module that is loaded later, since that load may take longer
 * than the options allow.
 *
 * @template T
 * @param {import('./tab.js').Tab} tab
 * @param {unknown} options undefined, or `signal` and `timeout`
 * @param {Promise<T>} work
 * @param {string[]} [known] the names of the options, of which `releaseSignal` may be one, too
 * @returns {Promise<T>} rejects also with the signal's reason, with a `TimeoutError`, or with `invalid-argument`
 */
export async function waitWithin(tab, options, work, known = ['signal', 'timeout']) {
    if (options === undefined) return work;
    work.catch(() => {}); // the wait for it rejects
    const { signal, releaseSignal, timeout } = checkOptions(options, known);
    const over = new AbortController();
    let cancel = () => {};
    /** @type {Promise<never>} */
    const ended = new Promise((_, reject) => {
        for (const one of [checkSignal(signal), checkSignal(releaseSignal)]) {
            const abort = () => reject(one?.reason);
            if (one?.aborted) abort();
            one?.addEventListener('abort', abort, { signal: over.signal });
        }
        if (checkTimeout(timeout) === undefined) return;
        cancel = tab._clock.after(Math.max(Number(timeout), answerMsMin), () =>
            reject(new DOMException(`this was not done within ${timeout} ms`, 'TimeoutError')),
        );
    });
    return Promise.race([ended, work]).finally(() => {
        cancel();
        over.abort();
    });
}

/** A deferred object: its methods wait for the class that it then becomes an instance of. */
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
        if ('size' in this || 'available' in this) this._register(); // loads the class
    }

    /**
     * Calls a method of the class, once it is loaded.
     *
     * @param {string} method
     * @param {any[]} args
     */
    _ask(method, args) {
        return ask(this.#tab, this.#part, method, args, this.#become);
    }

    /**
     * Registers a handler or a listener once the class is loaded. If loading fails, the tab warns, and the
     * function is registered when a later attempt to load succeeds.
     *
     * @param {string} [method] registers it, and returns a function that ends the registration; without a
     *   method, this only loads the class
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

    /** Ends the object after its earlier calls have been passed on. */
    async _end() {
        await this.#part.started?.catch(() => {}); // reported by its calls
        if (this instanceof Successor) this._end();
    }
}

/**
 * Adds methods to a class of deferred objects.
 *
 * @param {string} methods the names of all public methods of the class that is loaded later, separated by
 *   spaces
 * @param {typeof Deferred} [type] methods that it has already are kept
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

    /** Returns 0: no job is known before the queue is loaded. */
    get size() {
        return 0;
    }

    /**
     * Registers a handler, after its arguments are checked.
     *
     * @param {unknown} first
     * @param {unknown} second
     */
    handle(first, second) {
        return addHandler(this.#handled, (...own) => this._register('handle', ...own), first, second);
    }
}

class DeferredBudget extends Deferred {
    get available() {
        return /** @type {any} */ (this).limit;
    }
}

/** The largest value of C++'s `int`, in which the core keeps these options. */
const integerMax = 2 ** 31 - 1;

/**
 * What an option may be: one of a list of values, the first of which is the default; or an integer from
 * `least` to `most`. If `most` is Infinity, the option may be an integer up to `integerMax`, or Infinity,
 * which the core gets as 0.
 *
 * @typedef {readonly string[] | readonly boolean[] | readonly [byDefault: number | undefined, least: number, most: number]} Range
 */

/**
 * The kinds of deferred objects: the part that each is loaded with, its class until then, and the ranges of
 * its options. All tabs must pass the same options for one name.
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
 * Checks the options of a deferred object, and returns all of them, with the defaults for those that are not
 * given.
 *
 * @param {unknown} given
 * @param {Record<string, Range>} [ranges]
 * @throws {import('../common/errors.js').TabacusError} `invalid-argument`
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
