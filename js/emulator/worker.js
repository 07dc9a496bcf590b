/** Dedicated workers (HTML §10.2): their contexts, and the objects by which their owners use them. */

import { invalid } from '../common/errors.js';
import { trusted } from '../platform/events.js';
import { defineHandlers, idlInterface, operation, requireArguments } from '../platform/web-idl.js';
import { endDatabases } from './database/indexed-db.js';
import { tracked } from './host/host-work.js';
import { textOf } from './scripts/text-of-url.js';
import { postedToWorker } from './messages/post-message.js';
import { runFunction, runScript } from './scripts/run-script.js';
import { belongsTo, dispatched, isTarget, ReportingTarget } from './dom/event-target.js';

/** @typedef {import('./context.js').Context} Context */
/** @typedef {import('./messages/post-message.js').Posted} Posted */
/** @typedef {string | Function | undefined} Script */

/**
 * The object by which the owner uses a worker.
 * @typedef {EventTarget & { scope: any, run: (script: string | Function, ...given: any[]) => Promise<any>,
 *   postMessage: (message: unknown, options?: any) => void, terminate: () => void, onmessage: ((event: any) =>
 *   unknown) | null, onerror: ((event: any) => unknown) | null }} Handle
 */

/** A Worker object, by which its owner, a window or another worker, exchanges messages with it. */
class WorkerObject extends ReportingTarget {
    #owner;
    #context;
    /**
     * The messages that were posted before its script has run, which enables the queue of its port (§10.2.4).
     *
     * @type {Posted[] | undefined}
     */
    #early;

    /** @param {Context} owner @param {{ name: string, address?: URL }} options */
    constructor(owner, { name, address }) {
        super();
        belongsTo(this, owner);
        const { origin, tab } = owner;
        this.#owner = owner;
        const agent = origin.rules.calls.openAgent(tab.process);
        const context = owner.makeWorkerContext(agent);
        this.#context = context;
        context.name = name;
        context.address = address ?? context.address;
        context.unhandled = (init) => this.#unhandled(init);
        tab.workers.push(context);
        const { window: scope } = context;
        scope.postMessage = operation('postMessage', 1, (...given) =>
            this.#postToOwner(postedToWorker(given)),
        );
        scope.close = operation('close', 0, () => {
            context.closing = context.active;
            endWorker(context);
        });
    }

    /** @param {WorkerObject} worker */
    static contextOf(worker) {
        return worker.#context;
    }

    /**
     * Runs the script in a task of the worker, once its text is loaded.
     *
     * @param {WorkerObject} worker
     * @param {Script | Promise<string>} script
     */
    static begin(worker, script) {
        const context = worker.#context;
        if (script === undefined) return;
        worker.#early = [];
        const run = (/** @type {string | Function} */ text) =>
            context.queueTask(() => worker.#run(text), 'script');
        if (!(script instanceof Promise)) return run(script);
        tracked(context, script, 'the script of a worker').then(run, () => worker.#fail());
    }

    /** @param {string | Function} script */
    #run(script) {
        const context = this.#context;
        context.guard(() => {
            const value =
                typeof script === 'string' ? runScript(context, script) : runFunction(context, script, []);
            if (value instanceof Promise) value.catch((error) => context.report(error));
        });
        const early = this.#early ?? [];
        this.#early = undefined;
        for (const message of early) this.#deliver(message);
    }

    /** Reports that the script could not be loaded. There is no network. */
    #fail() {
        const owner = this.#owner;
        owner.queueTask(() => owner.fire(this, trusted(Event, 'error', { cancelable: true })));
    }

    /** @param {Posted} message */
    #postToOwner(message) {
        const owner = this.#owner;
        owner.queueTask(() => owner.firePosted(this, message), 'message', this.#context.agent);
    }

    /** @param {Posted} message */
    #deliver(message) {
        const context = this.#context;
        context.queueTask(() => context.firePosted(context.window, message), 'message', this.#owner.agent);
    }

    /**
     * Reports to the owner an error that the worker did not handle (§8.1.4.3).
     *
     * @param {import('./context.js').Uncaught} init
     */
    #unhandled(init) {
        const owner = this.#owner;
        owner.queueTask(() => {
            const { error, ...details } = init;
            const event = trusted(owner.original('ErrorEvent'), 'error', {
                ...details,
                error: null,
                cancelable: true,
            });
            let handled = false;
            owner.guard(() => (handled = !dispatched(this, event)));
            if (!handled) owner.report(error);
        });
    }

    /** @param {any} _message @param {any[]} _options the objects to transfer, or options */
    postMessage(_message, ..._options) {
        const message = postedToWorker([...arguments]);
        if (this.#early) this.#early.push(message);
        else this.#deliver(message);
    }

    terminate() {
        this.#context.closing = false;
        endWorker(this.#context);
    }
}
defineHandlers(WorkerObject.prototype, ['message', 'messageerror', 'error'], {}, isTarget);

/** Ends a worker and the workers that it owns. @param {Context} context */
export function endWorker(context) {
    const { tab } = context;
    for (const inner of tab.workers.filter(({ owner }) => owner === context)) endWorker(inner);
    endDatabases(context);
    context.close();
    tab.origin.rules.calls.kill(context.agent, 0xffffffff);
    tab.workers = tab.workers.filter((one) => one !== context);
}

/** What openWorker() returns: the worker, with access to its global object. */
class WorkerHandle extends WorkerObject {
    /** Its global object. @returns {any} */
    get scope() {
        return WorkerObject.contextOf(this).window;
    }

    /**
     * Runs a script in the worker, as Tab's run() does in the tab.
     *
     * @param {string | Function} script
     * @param {...any} given
     * @returns {Promise<any>}
     */
    run(script, ...given) {
        return WorkerObject.contextOf(this).run(script, ...given);
    }
}

/**
 * @param {Context} owner
 * @param {unknown} script
 * @param {{ name?: unknown }} options
 */
export function openWorker(owner, script, { name = '' }) {
    if (typeof name !== 'string') throw invalid('name', name, 'a string');
    if (script !== undefined && typeof script !== 'string' && typeof script !== 'function')
        throw invalid('script', script, 'a string or a function');
    const worker = new WorkerHandle(owner, { name });
    WorkerObject.begin(worker, /** @type {Script} */ (script));
    return worker;
}

/**
 * Makes the interface Worker, for scripts that need no network (HTML §10.2.6.3).
 *
 * @param {Context} context
 * @returns {any}
 */
export function workerInterface(context) {
    class Worker extends WorkerObject {
        /** @param {any} url @param {any} [options] */
        constructor(url, options) {
            requireArguments("construct 'Worker'", arguments, 1);
            const { name = '' } = options ?? {};
            const asked = `${url}`.toWellFormed();
            if (!URL.canParse(asked, context.url))
                throw new DOMException(`Worker: '${asked}' is no URL`, 'SyntaxError');
            const address = new URL(asked, context.url);
            super(context, { name: `${name}`, address });
            WorkerObject.begin(this, textOf(address));
        }
    }
    return idlInterface(Worker, 'Worker', { length: 1 });
}
