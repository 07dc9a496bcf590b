/** Takes Node's notices of rejected promises while explorations run. */

import { runInThisContext } from 'node:vm';

/** @typedef {import('./rejections.js').Notices} Notices */

/** The process of the host. In Jest, the global `process` is a copy, which receives no event. */
const host = runInThisContext('process');

/**
 * Shows each notice to `notices` first. What these do not take goes to the listeners of the process, or has the
 * effect that it has without a listener.
 *
 * @param {Notices} notices
 * @returns {() => void} ends it
 */
export function takeNotices({ rejected, handled }) {
    const own = Object.hasOwn(host, 'emit');
    const { emit } = host;
    /** @this {unknown} @param {string} name @param {any[]} given */
    const emitOthers = function (name, ...given) {
        if (!ended && name === 'unhandledRejection' && rejected(given[1], given[0])) return true;
        if (!ended && name === 'rejectionHandled' && handled(given[0])) return true;
        return Reflect.apply(emit, this, [name, ...given]);
    };
    let ended = false;
    host.emit = emitOthers;
    return () => {
        ended = true;
        if (host.emit !== emitOthers) return; // someone else has replaced it, and calls this one
        if (own) host.emit = emit;
        else delete host.emit;
    };
}
