/**
 * What Node does for a run: timers, files, connections, cryptography. It is seen by node:async_hooks, which make
 * promises several times slower, so that only runs that are in doubt are watched.
 */

import { AsyncLocalStorage, createHook } from 'node:async_hooks';

/** Whether a watch sees what the host does. */
export const seesHost = true;

/** The types of what belongs to the language and to the output, and of what does nothing by itself. */
const ignored = new Set([
    'TickObject',
    'Microtask',
    'Immediate',
    'FILEHANDLE',
    'TTYWRAP',
    'SIGNALWRAP',
    'WRITEWRAP',
]);

/** The types of requests, which are complete once their callback has been called. */
const requests = /REQ|QUERYWRAP|CONNECTWRAP|SHUTDOWNWRAP|SENDWRAP/;

/** What a sentence calls resources, by their types. @type {[RegExp, string][]} */
const names = [
    [/^Timeout$/, 'a timer'],
    [/^FS/, 'a file'],
    [/^(TCP|TLS|HTTP|UDP|GETADDR|PIPE)/, 'a connection'],
    [/REQUEST$/, 'cryptography'],
    [/^(WORKER|MESSAGEPORT)$/, 'a worker'],
    [/^PROCESS/, 'another process'],
];

/** A frame of Node, or of the package itself. */
const ownFrame = new RegExp(`node:|${import.meta.url.replace(/[^/]*$/, '').replace(/\W/g, '\\$&')}`);

/** @typedef {{ type: string, resource: any, stack: string }} Resource */

export class HostWatch {
    /** The resources that may be busy, by their numbers. @type {Map<number, Resource>} */
    #resources = new Map();
    #storage = new AsyncLocalStorage();
    #hook;

    /** @param {{ owning: (promise: object) => unknown }} owner is told of each promise that the run makes */
    constructor(owner) {
        this.#hook = createHook({
            init: (number, type, trigger, resource) => {
                if (ignored.has(type) || this.#storage.getStore() !== this) return;
                if (type === 'PROMISE') owner.owning(resource);
                else this.#resources.set(number, { type, resource, stack: stackNow() });
            },
            after: (number) => {
                const { type } = this.#resources.get(number) ?? {};
                if (type && requests.test(type)) this.#resources.delete(number);
            },
            destroy: (number) => void this.#resources.delete(number),
        });
    }

    get #busy() {
        return [...this.#resources.values()].filter(isBusy);
    }

    /** What the host does for the run that is not complete: the last that was begun; undefined if there is nothing. */
    get pending() {
        if (this.#resources.size === 0) return undefined;
        const last = this.#busy.at(-1);
        return last && described(last);
    }

    /** Until when the host certainly does it, in milliseconds of real time from its beginning; 0 if that is not known. */
    get pending_ms() {
        return Math.min(
            ...this.#busy.map(({ resource, type }) => (type === 'Timeout' ? resource._idleTimeout : 0)),
        );
    }

    /**
     * Calls a function and watches what it does, until its promise is settled.
     *
     * @template Value
     * @param {() => Promise<Value>} call
     * @returns {Promise<Value>}
     */
    async during(call) {
        this.#hook.enable();
        try {
            return await this.#storage.run(this, call);
        } finally {
            this.#hook.disable();
            this.#storage.disable();
        }
    }

    /**
     * Calls a function without watching it.
     *
     * @template Value
     * @param {() => Value} call
     * @returns {Value}
     */
    outside(call) {
        return this.#storage.exit(call);
    }
}

/** The number of frames in which a caller of the host is looked for. */
const framesMax = 40;

function stackNow() {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = framesMax;
    const { stack = '' } = new Error();
    Error.stackTraceLimit = stackTraceLimit;
    return stack;
}

/** Whether it may still call the run back. @param {Resource} resource */
function isBusy({ type, resource, stack }) {
    if (resource.hasRef?.() === false || /\bget(Stdout|Stderr|Stdin)\b/.test(stack)) return false;
    // What cryptography does synchronously has a resource, too, and no callback.
    return !/REQUEST$/.test(type) || typeof resource.ondone === 'function';
}

/** @param {Resource} resource */
function described({ type, stack }) {
    const name = names.find(([pattern]) => pattern.test(type))?.[1] ?? type;
    const line = stack
        .split('\n')
        .find((frame, at) => at > 0 && !ownFrame.test(frame) && /:\d+:\d+/.test(frame));
    const [, where] = /([^/\\(]+:\d+):\d+\)?$/.exec(line ?? '') ?? [];
    return where ? `${name} of the host (${where})` : `${name} of the host`;
}
