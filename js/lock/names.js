/**
 * Conversion of lock names. A DOMString may have lone surrogates and U+0000. The core, stores and other tabs
 * need names that are well-formed and have no U+0000, which ends a text in version 0.1.0.
 */

/**
 * An escape character: the four hexadecimal digits after it are a UTF-16 unit that a name of the core cannot
 * have.
 */
const mark = '\uffff';

/** Every unit that may have to be escaped. A surrogate must be only if it is alone. */
const perhapsEscaped = /[\0\ud800-\udfff\uffff]/;

/**
 * Returns the core's name for a lock, in which U+0000, lone surrogates and the escape character itself are
 * escaped. Different names have different results.
 *
 * @param {string} name any DOMString
 * @returns {string}
 */
export const coreName = (name) =>
    perhapsEscaped.test(name)
        ? name.replace(
              /[\0\uffff]|\p{Surrogate}/gu,
              (unit) => mark + unit.charCodeAt(0).toString(16).padStart(4, '0'),
          )
        : name;

/** Returns the lock name that coreName() has converted. @param {string} name */
export const domName = (name) =>
    name.replace(/\uffff([0-9a-f]{4})/g, (_, digits) => String.fromCharCode(parseInt(digits, 16)));

/**
 * Converts the name of a lock that is to be acquired for the core, and checks that the core has memory for another name.
 * Where there are Web Locks, the core forgets the name when the lock is let go.
 *
 * @param {import('./tab-locks.js').TabLocks} locks
 * @param {string} name
 */
export function lockName({ _bridge: bridge, capabilities }, name) {
    const forgotten = capabilities.exclusion === 'web-locks';
    const known = coreName(name);
    bridge.admit(known, forgotten ? bridge.listeners.lockNames(bridge.promises.size) : undefined);
    return known;
}
