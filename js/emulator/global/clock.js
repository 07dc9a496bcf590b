/** The timers (HTML §8.6), Date and performance of a context, by the clock of the origin. */

import { HostDate, hostNow, hostTimeout } from '../common/host-timers.js';
import { requireArguments } from '../../platform/web-idl.js';

/** @typedef {import('../context.js').Context} Context */

/** The nesting level above which no timer is shorter than 4 ms (HTML §8.6, "timer initialization steps"). */
const nestingMax = 5;
const nestedMsMin = 4;

/** The longest delay of the host's timers. */
const delayMsMax = 2 ** 31 - 1;

/** How many times a program may read the clock in one turn; one that reads it more often waits for time to pass. */
const readsMax = 10_000;

/**
 * The moments at which timers of a throttled tab are due, as in Chromium in a page that has been hidden for five
 * minutes ("Intensive throttling of JavaScript timer wake ups", chromestatus.com/feature/4718288976216064): a timer
 * with a delay waits for the next whole second, and one that is nested too deeply, because timers have set timers,
 * for the next whole minute. Chromium lets the first of the latter run earlier if none has run for a minute; the
 * emulator does not.
 */
const second_ms = 1_000;
const minute_ms = 60_000;

/** Returns the next multiple of the interval. @param {number} at_ms @param {number} interval_ms */
const aligned = (at_ms, interval_ms) => Math.ceil(at_ms / interval_ms) * interval_ms;

/** The story has no line for a timer that is set: it has one when the timer is due. */
const leftOut = { story: '' };

/**
 * The clock of an origin. `virtual` time passes only when no other event can happen; `real` time is that of the
 * machine.
 */
export class OriginClock {
    #rules;
    /** How far the wall clock is ahead of the monotonic clock, by which timers run. */
    #ahead_ms = 0;
    #reads = 0;

    /** @param {import('../rules.js').Rules} rules @param {'virtual' | 'real'} kind */
    constructor(rules, kind) {
        this.#rules = rules;
        this.virtual = kind === 'virtual';
    }

    /** Reads the monotonic clock for a program, in milliseconds. It cannot be set. */
    now() {
        if (this.virtual && ++this.#reads > readsMax) this.#rules.calls.jump(1);
        return this.read();
    }

    /** Returns what {@link now} returns, but does not count as a read of a program. */
    read() {
        return this.virtual ? this.#rules.now_ms : hostNow();
    }

    /** Reads the wall clock for a program, in milliseconds since 1970. */
    wall() {
        return this.now() + this.#ahead_ms;
    }

    /** Notes that a task begins. */
    beginTask() {
        this.#reads = 0;
    }

    /** @param {number} wall_ms */
    set(wall_ms) {
        this.#ahead_ms = wall_ms - this.now();
    }
}

/** The timers of one context. */
export class Timers {
    /**
     * The timers by id: the number in the rules, or what cancels the host's timer; when it is due; the delay with
     * which it was set; whether timers that set timers have set it; what it calls.
     *
     * @type {Map<number, { handle: any, at_ms: number, set_ms: number, nested: boolean, due: () => void }>}
     */
    #timers = new Map();
    /** @type {Map<number, number>} */
    #idOf = new Map();
    #last = 0;
    #nesting = 0;
    #context;

    /** @param {Context} context */
    constructor(context) {
        this.#context = context;
    }

    /** @param {any} handler @param {any} timeout @param {any[]} given @param {boolean} repeats */
    set(handler, timeout, given, repeats) {
        // A document that is not active sets no timer (HTML §8.6).
        if (!this.#context.active) return 0;
        const call =
            typeof handler === 'function'
                ? () => Reflect.apply(handler, this.#context.window, given)
                : this.#script(handler);
        const id = ++this.#last;
        const delay_ms = Math.max(timeout | 0, 0);
        this.#trace(delay_ms, repeats);
        this.#start(id, delay_ms, call, repeats, this.#nesting + 1);
        return id;
    }

    /** @param {number} delay_ms @param {boolean} repeats */
    #trace(delay_ms, repeats) {
        const { rules, id } = this.#context;
        const text = () => `sets a ${repeats ? 'repeating ' : ''}timer of ${delay_ms} ms`;
        rules.trace(id, 'clock', text, leftOut);
    }

    /** Makes a call of a handler that is not a function: it is a script (HTML §8.6). @param {any} handler */
    #script(handler) {
        const text = `${handler}`;
        return () => this.#context.evaluate(text);
    }

    /**
     * Calls a function after a delay (HTML §8.6, "run steps after a timeout").
     *
     * @param {number} delay_ms
     * @param {() => void} call
     */
    after(delay_ms, call) {
        if (!this.#context.active) return;
        this.#trace(delay_ms, false);
        this.#start(++this.#last, Math.min(delay_ms, delayMsMax), call, false, 0);
    }

    /**
     * @param {number} id
     * @param {number} given_ms
     * @param {() => void} call
     * @param {boolean} repeats
     * @param {number} nesting
     */
    #start(id, given_ms, call, repeats, nesting) {
        const nested = nesting > nestingMax;
        const delay_ms = nested ? Math.max(given_ms, nestedMsMin) : given_ms;
        const due = () => {
            if (!repeats) this.#timers.delete(id);
            this.#nesting = nesting;
            try {
                this.#context.guard(call);
            } finally {
                if (repeats && this.#timers.has(id)) this.#start(id, given_ms, call, true, nesting + 1);
            }
        };
        this.#timers.set(id, {
            handle: this.#begin(id, delay_ms, given_ms, nested),
            at_ms: this.#context.origin.clock.read() + delay_ms,
            set_ms: given_ms,
            nested,
            due,
        });
    }

    /** Starts the waiting timers again, since the throttling of the tab has changed. */
    restart() {
        const now_ms = this.#context.origin.clock.read();
        for (const [id, timer] of this.#timers) {
            this.#end(timer);
            timer.handle = this.#begin(id, Math.max(timer.at_ms - now_ms, 0), timer.set_ms, timer.nested);
        }
    }

    /** Returns how long a timer waits. @param {number} delay_ms @param {boolean} nested */
    #throttled(delay_ms, nested) {
        const { origin, tab } = this.#context;
        if (!tab.throttled || delay_ms === 0) return delay_ms;
        const now_ms = origin.clock.read();
        return aligned(now_ms + delay_ms, nested ? minute_ms : second_ms) - now_ms;
    }

    /** @param {number} id @param {number} delay_ms @param {number} set_ms @param {boolean} nested */
    #begin(id, delay_ms, set_ms, nested) {
        const { rules, origin } = this.#context;
        const wait_ms = this.#throttled(delay_ms, nested);
        if (origin.clock.virtual) {
            const number = rules.calls.startTimer(this.#context.id, wait_ms, set_ms);
            this.#idOf.set(number, id);
            origin.wake();
            return number;
        }
        return hostTimeout(() => this.#context.queueTask(() => this.#run(id), 'timer'), wait_ms);
    }

    /** @param {any} given */
    clear(given) {
        const id = given | 0;
        const timer = this.#timers.get(id);
        if (!timer) return;
        this.#timers.delete(id);
        this.#end(timer);
    }

    /** @param {{ handle: any }} timer */
    #end({ handle }) {
        if (typeof handle === 'number') {
            this.#idOf.delete(handle);
            this.#context.rules.calls.cancelTimer(handle);
        } else {
            handle();
        }
    }

    clearAll() {
        for (const id of [...this.#timers.keys()]) this.clear(id);
    }

    /** Runs the timer that has this number in the rules. @param {number} number */
    due(number) {
        const id = this.#idOf.get(number);
        this.#idOf.delete(number);
        if (id !== undefined) this.#run(id);
    }

    /** @param {number} id */
    #run(id) {
        this.#timers.get(id)?.due();
    }

    beginTask() {
        this.#nesting = 0;
    }
}

/** The host's Date, by the clock of the origin. @param {Context} context */
export const dateOf = (context) =>
    new Proxy(HostDate, {
        construct: (target, given, newTarget) =>
            Reflect.construct(
                target,
                given.length === 0 ? [context.wall()] : given,
                newTarget === context.original('Date') ? target : newTarget,
            ),
        apply: () => new HostDate(context.wall()).toString(),
        get: (target, key, receiver) =>
            key === 'now' ? () => Math.floor(context.wall()) : Reflect.get(target, key, receiver),
    });

/**
 * The `performance` of a context (High Resolution Time), whose time begins when the context is made.
 *
 * @param {Context} context
 */
export const performanceOf = (context) => {
    const { born_ms, timeOrigin } = context;
    const performance = {
        timeOrigin,
        now: () => context.now() - born_ms,
        mark: () => {},
        measure: () => {},
        toJSON: () => ({ timeOrigin }),
    };
    return Object.freeze(Object.defineProperty(performance, Symbol.toStringTag, { value: 'Performance' }));
};

/** The host's AbortSignal, whose timeout() goes by the clock of the origin (DOM §3.2). @param {Context} context */
export const abortSignalOf = (context) => {
    const timeout = (/** @type {any[]} */ ...given) => {
        requireArguments("execute 'timeout' on 'AbortSignal'", given, 1);
        const controller = new AbortController();
        const call = () => controller.abort(new DOMException('the time is over', 'TimeoutError'));
        context.timers.after(enforcedRange(given[0]), call);
        return controller.signal;
    };
    return new Proxy(AbortSignal, {
        get: (target, key, receiver) => (key === 'timeout' ? timeout : Reflect.get(target, key, receiver)),
    });
};

/** Converts to an `[EnforceRange] unsigned long long` (Web IDL §3.2.4.9). @param {any} given */
function enforcedRange(given) {
    const number = Math.trunc(Number(given));
    if (number >= 0 && number <= Number.MAX_SAFE_INTEGER) return number;
    throw new TypeError(`timeout: ${given} is not from 0 to 2^53 - 1`);
}
