/**
 * Watches the work of Node for a run: timers, files, connections, cryptography. node:async_hooks report it. They make
 * promises several times slower, so that only runs that are in doubt are watched.
 */

import { AsyncLocalStorage, createHook } from 'node:async_hooks';

/** Whether a watch sees what the host does. */
export const seesHost = true;

/** The types of resources of the language and of the output, and of those that do nothing by themselves. */
const ignored = new Set([
    'TickObject',
    'Microtask',
    'Immediate',
    'BLOBREADER',
    'FILEHANDLE',
    'TTYWRAP',
    'SIGNALWRAP',
    'WRITEWRAP',
    'ZLIB',
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

/** A frame of Node's own code. */
const nodeFrame = /\bnode:|<anonymous>\)?$/;

/** The path of the folder with this package's modules, as frames show it. */
const ownFolder = import.meta.url.replace(/^file:\/\/|[^/]*$/g, '');

/** @typedef {{ type: string, resource: any, caller: string }} Resource */

export class HostWatch {
    /** The resources that may be busy, by their numbers. @type {Map<number, Resource>} */
    #resources = new Map();
    #storage = new AsyncLocalStorage();
    #hook;

    /** @param {{ owning: (promise: object) => unknown }} owner receives each promise that the run makes */
    constructor(owner) {
        this.#hook = createHook({
            init: (number, type, trigger, resource) => {
                if (ignored.has(type) || this.#storage.getStore() !== this) return;
                if (type === 'PROMISE') owner.owning(resource);
                else this.#add(number, { type, resource, caller: callerNow() });
            },
            after: (number) => {
                const { type } = this.#resources.get(number) ?? {};
                if (type && requests.test(type)) this.#resources.delete(number);
            },
            destroy: (number) => void this.#resources.delete(number),
        });
    }

    /**
     * Adds a resource, unless the package has made it itself: for its own tasks, or for work that it tracks.
     *
     * @param {number} number
     * @param {Resource} made
     */
    #add(number, made) {
        // The frames of scripts that the package evaluates, and of functions that await a script, name its files, too.
        const own = made.caller.includes(ownFolder) && !/\beval at |^ *at async /.test(made.caller);
        if (!own) this.#resources.set(number, made);
    }

    get #busy() {
        return [...this.#resources.values()].filter(isBusy);
    }

    /** The work of the host for the run that was begun last and is not complete; undefined if there is none. */
    get pending() {
        if (this.#resources.size === 0) return undefined;
        const last = this.#busy.at(-1);
        return last && described(last);
    }

    /** How long that work certainly takes, in milliseconds of real time from its beginning; 0 if that is not known. */
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

/** Returns the frame that called the host; an empty text if Node called itself. */
function callerNow() {
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = framesMax;
    const { stack = '' } = new Error();
    Error.stackTraceLimit = stackTraceLimit;
    if (/\bget(Stdout|Stderr|Stdin)\b/.test(stack)) return ownFolder;
    const frames = stack.split('\n').slice(1);
    const inner = frames.findIndex((frame) => nodeFrame.test(frame)); // the frames before it are those of the hook
    return frames.slice(Math.max(inner, 0)).find((frame) => !nodeFrame.test(frame)) ?? '';
}

/** Whether it may still call the run back. @param {Resource} resource */
function isBusy({ type, resource }) {
    if (resource.hasRef?.() === false) return false;
    // A synchronous operation of cryptography has a resource, too, but no callback.
    return !/REQUEST$/.test(type) || typeof resource.ondone === 'function';
}

/** @param {Resource} resource */
function described({ type, caller }) {
    const name = names.find(([pattern]) => pattern.test(type))?.[1] ?? type;
    const [, where] = /([^/\\(]+:\d+):\d+\)?$/.exec(caller) ?? [];
    return where ? `${name} of the host (${where})` : `${name} of the host`;
}
