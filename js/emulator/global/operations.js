/** The operations of global objects, which each one makes with its own context. */

import { windowOpen } from '../dom/window-open.js';
import { clonedByScript, postedToWindow } from '../messages/post-message.js';
import { operation } from '../../platform/web-idl.js';
import { runScript } from '../scripts/run-script.js';
import { textOf } from '../scripts/text-of-url.js';

/** @typedef {import('../context.js').Context} Context */

/**
 * Operations by name: the number of required arguments, and the function.
 *
 * @typedef {Record<string, [number, (context: Context) => (...given: any[]) => unknown]>} Operations
 */

const settled = Promise.resolve();

/** The operations of windows and workers. @type {Operations} */
export const COMMON_OPERATIONS = {
    setTimeout: [
        1,
        ({ timers }) =>
            (handler, timeout, ...given) =>
                timers.set(handler, timeout, given, false),
    ],
    setInterval: [
        1,
        ({ timers }) =>
            (handler, timeout, ...given) =>
                timers.set(handler, timeout, given, true),
    ],
    clearTimeout: [
        0,
        ({ timers }) =>
            (id) =>
                timers.clear(id),
    ],
    clearInterval: [
        0,
        ({ timers }) =>
            (id) =>
                timers.clear(id),
    ],
    reportError: [1, (context) => (error) => context.report(error)],
    structuredClone: [
        1,
        (context) =>
            (...given) =>
                context.received(clonedByScript(given)).data,
    ],
    queueMicrotask: [
        1,
        (context) => (given) => {
            const call = callback('queueMicrotask', given);
            // Fake timers replace the host's queueMicrotask().
            settled.then(() => context.runs && context.guard(call));
        },
    ],
};

/** @param {string} operation @param {any} given @returns {any} */
function callback(operation, given) {
    if (typeof given !== 'function') throw new TypeError(`${operation}: the callback is not a function`);
    return given;
}

/** The time between two animation frames. */
const frame_ms = 16;

/** The operations that only windows have. @type {Operations} */
export const WINDOW_OPERATIONS = {
    requestAnimationFrame: [
        1,
        (context) => (given) => {
            const call = callback('requestAnimationFrame', given);
            return context.timers.set(() => call(context.original('performance').now()), frame_ms, [], false);
        },
    ],
    cancelAnimationFrame: [
        1,
        ({ timers }) =>
            (id) =>
                timers.clear(id),
    ],
    requestIdleCallback: [
        1,
        ({ timers }) =>
            (given) => {
                const call = callback('requestIdleCallback', given);
                return timers.set(() => call({ didTimeout: false, timeRemaining: () => 50 }), 1, [], false);
            },
    ],
    cancelIdleCallback: [
        1,
        ({ timers }) =>
            (id) =>
                timers.clear(id),
    ],
    postMessage: [1, postMessageTo],
    open: [0, windowOpen],
    // close() has no effect on a frame (HTML §7.2.2.1).
    close: [
        0,
        ({ tab, parent }) =>
            () =>
                void (parent ?? tab.close()),
    ],
};

/** The operations that only workers have. @type {Operations} */
export const WORKER_OPERATIONS = {
    importScripts: [
        0,
        (context) =>
            (...urls) => {
                for (const url of urls) {
                    const text = URL.canParse(url, context.url)
                        ? textOf(new URL(url, context.url))
                        : Promise.reject(new TypeError('no URL'));
                    if (typeof text === 'string') runScript(context, text);
                    else
                        throw (
                            text.catch(() => {}),
                            new DOMException(`importScripts: '${url}' is not here`, 'NetworkError')
                        );
                }
            },
    ],
};

/** @param {Operations} operations @returns {Record<string, (context: Context) => unknown>} */
export const madeOf = (operations) =>
    Object.fromEntries(
        Object.entries(operations).map(([name, [required, of]]) => [
            name,
            (context) => operation(name, required, of(context)),
        ]),
    );

/** Makes window.postMessage() of a window, which posts to that window (HTML §9.3.3). @param {Context} context */
function postMessageTo(context) {
    return (/** @type {any[]} */ ...given) => {
        const sender = context.origin.current ?? context;
        const { targetOrigin, ...message } = postedToWindow(given, sender.originText);
        // An opaque origin is the same origin only with itself.
        const meant = targetOrigin === 'null' ? sender === context : targetOrigin === context.originText;
        if (targetOrigin !== '*' && !meant) return;
        const from = { source: sender.kind === 'window' ? sender.window : null, origin: sender.originText };
        context.queueTask(() => context.firePosted(context.window, message, from), 'message', sender.agent);
    };
}
