/**
 * The types of what crosses the bridge between C++ and JavaScript, as plain data: scripts/lib/bridge-generator.js
 * writes both sides of the bridge from it.
 *
 * A type is one of:
 *
 *     int, number, bool   numbers; `int64` and `number?` are a std::int64_t and a std::optional<double> in C++
 *     text, text?         a string; null or std::nullopt where there is none
 *     list<T>             an array
 *     set<E>              a set of enumerators: a std::span, and an array of names
 *     bits<E>             the same as a number: bit n stands for the enumerator of number n
 *     T?                  a std::optional, and undefined where there is none
 *     E, R                an enumeration or a record below
 *
 * Names are written as C++ has them. JavaScript has them in camel case, and keeps a unit at the end (`timeout_ms`).
 */

/**
 * @typedef {object} Enum
 * @property {string} doc
 * @property {string} [cpp] its name in C++, if not its own
 * @property {string} header that declares it
 * @property {Record<string, string>} values the enumerators of C++, in their order: what JavaScript calls them
 * @property {string} [letters] what the enumerators are in C++ if they are not 0, 1, 2, …: a letter each
 */

/** @type {Record<string, Enum>} */
export const enums = {
    Store: {
        doc: 'The object stores of the database.',
        header: 'tabacus/common/world.hpp',
        values: {
            meta: 'meta',
            claims: 'claims',
            rows: 'rows',
            counters: 'counters',
            quarantine: 'aside',
            deltas: 'deltas',
            locks: 'locks',
            data: 'data',
            jobs: 'jobs',
            limits: 'limits',
        },
    },
    LockMode: {
        doc: 'How a lock is held.',
        header: 'tabacus/common/world.hpp',
        values: { exclusive: 'exclusive', shared: 'shared' },
    },
    Access: {
        doc: 'What a transaction may do.',
        header: 'tabacus/common/world.hpp',
        values: { read: 'readonly', write: 'readwrite' },
    },
    Durability: {
        doc: 'What a commit has reached.',
        header: 'tabacus/common/world.hpp',
        values: { relaxed: 'relaxed', strict: 'strict' },
    },
    LifecycleEvent: {
        doc: 'What happened to the page.',
        header: 'tabacus/common/world.hpp',
        values: {
            hidden: 'hidden',
            visible: 'visible',
            frozen: 'frozen',
            resumed: 'resumed',
            page_hide: 'pageHide',
            page_show: 'pageShow',
        },
    },
};

/**
 * @typedef {object} Field
 * @property {string} type
 * @property {string} cpp the member in C++, if it has another name there
 */

/**
 * @typedef {object} Struct
 * @property {string} doc
 * @property {string} [cpp] its name in C++, if not its own
 * @property {string} [header] that declares it; the bridge declares a record without one
 * @property {'js' | 'cpp'} to which side it goes
 * @property {Record<string, string | Field>} fields
 */

/** @type {Record<string, Struct>} */
export const records = {
    Notice: {
        doc: 'What went wrong without being the fault of a call.',
        header: 'tabacus/common/counter.hpp',
        to: 'js',
        fields: {
            lost: { type: 'bool', cpp: 'kind' },
            code: 'text',
            message: 'text',
            previous: 'text',
            subject: 'text',
            recovered: 'int',
        },
    },
};
