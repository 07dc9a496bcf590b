/**
 * The host's own functions, timers and clock. Fake timers (of Jest, Vitest, Sinon and Node's test runner) replace the
 * functions of globalThis, whose time then stands still. The emulator never calls a fake: it would wait for ever, and it
 * would leave timers behind in the clock of a test.
 */

import { candidates, dateConstructor, waitInRealTime } from './host-functions.web.js';
import { hold, release } from './host-channel.js';

/** What the text of Node's own functions contains. Those of browsers have no text. @type {Record<string, RegExp>} */
const textsInNode = {
    nextTick: /\btickObject\b/,
    setImmediate: /\bnew Immediate\(/,
    setTimeout: /\bnew Timeout\(/,
    clearTimeout: /\bunenroll\(/,
};

/**
 * Whether a function is the host's own. Those that are bound, and proxies, have no name in their text.
 *
 * @param {string} name
 * @param {unknown} given
 */
function isOriginal(name, given) {
    if (typeof given !== 'function') return false;
    const text = Function.prototype.toString.call(given);
    const native = /^function (\w+)\(\) \{\s*\[native code\]\s*\}$/.exec(text);
    return native ? native[1] === name : textsInNode[name]?.test(text) === true;
}

/**
 * Returns the host's own function of a name.
 *
 * @param {string} name
 * @returns {any} undefined if the host has none, or if only fakes of it are found
 */
export const originalFunction = (name) => candidates(name).find((one) => isOriginal(name, one));

const { Date: DateAtImport, File } = globalThis;

/** A fake of Date inherits from the host's own one, or shares its prototype. */
const dates = [DateAtImport, Object.getPrototypeOf(DateAtImport), DateAtImport.prototype?.constructor];
const ownDate = [...dates, dateConstructor()].find((one) => isOriginal('Date', one));

/** The host's own Date, if it can be found. @type {DateConstructor} */
export const HostDate = ownDate ?? DateAtImport;

/** Reads the wall clock of the machine, in milliseconds since 1970. @type {() => number} */
export const hostNow = ownDate ? () => ownDate.now() : () => new File([], '').lastModified;

/** @param {() => void} call @param {number} delay_ms */
function timeoutOfWait(call, delay_ms) {
    hold();
    let waits = true;
    const cancel = () => {
        if (waits) release();
        waits = false;
    };
    waitInRealTime(delay_ms).then(() => {
        if (!waits) return;
        cancel();
        call();
    });
    return cancel;
}

/**
 * Calls a function once a time of the machine has passed.
 *
 * @type {(call: () => void, delay_ms: number) => () => void} the returned function cancels the call
 */
export const hostTimeout = makeTimeout();

function makeTimeout() {
    const [setTimeout, clearTimeout] = [originalFunction('setTimeout'), originalFunction('clearTimeout')];
    if (!setTimeout || !clearTimeout) return timeoutOfWait;
    return (/** @type {() => void} */ call, /** @type {number} */ delay_ms) => {
        const timer = setTimeout(call, delay_ms);
        return () => clearTimeout(timer);
    };
}
