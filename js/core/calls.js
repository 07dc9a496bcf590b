/**
 * What the core asks of its host: each call of `enum class Call` in wasm/src/browser/bridge.hpp, in
 * that order. A call that answers later settles `operation`, at once where the answer is known.
 */

/**
 * @typedef {object} Arguments
 * @property {number} operation
 * @property {number} object the transaction, lock, channel, promise or counter that it is about
 * @property {number} number
 * @property {string} first
 * @property {string} second
 */

/** @typedef {(bridge: import('./bridge.js').Bridge, args: Arguments) => unknown} CallHandler a number, or nothing */

/** The object stores, in the order of `enum class Store` in wasm/include/tabacus/common/world.hpp. */
const stores = ['meta', 'claims', 'rows', 'counters', 'aside', 'deltas', 'locks', 'data', 'jobs', 'limits'];

/** @param {number} index */
const storeOf = (index) => /** @type {string} */ (stores[index]);

/** @type {CallHandler[]} */
export const calls = [
    // storage
    ({ host }) => host.storage.available,
    ({ host, report }, { operation, first }) => report('settled', operation, [host.storage.get(first)]),
    ({ host, report }, { operation, first, second }) => {
        const failure = host.storage.set(first, second);
        report(failure ? 'failed' : 'settled', operation, failure ?? []);
    },
    ({ host, report }, { operation, first }) => {
        host.storage.remove(first);
        report('settled', operation, []);
    },
    ({ host, report }, { operation, first }) => report('settled', operation, host.storage.keys(first)),
    ({ host }, { first }) => host.storage.watch(first),
    // database: a bit for writing, one for strict, then one for each store
    ({ host }) => host.database.available,
    ({ host }, { operation }) => host.database.open(operation),
    ({ host }, { operation, number }) => {
        const scope = stores.filter((_, index) => number & (4 << index));
        host.database.begin(operation, { scope, write: (number & 1) > 0, strict: (number & 2) > 0 });
    },
    ({ host }) => host.database.close(),
    // transaction
    ({ host }, { operation, object, number, first }) =>
        host.database.transaction(object)?.get(operation, storeOf(number), first),
    ({ host }, { operation, object, number, first, second }) =>
        host.database
            .transaction(object)
            ?.list(
                operation,
                storeOf(number % 16),
                first,
                Math.floor(number / 16) || undefined,
                second || undefined,
            ),
    ({ host }, { operation, object, number, first }) =>
        host.database.transaction(object)?.holder(operation, storeOf(number), first),
    ({ host }, { object, number, first, second }) =>
        host.database.transaction(object)?.put(storeOf(number), first, second),
    ({ host }, { object, number, first, second }) =>
        host.database.transaction(object)?.remove(storeOf(number), first, second),
    ({ host }, { object, first, second }) => host.database.transaction(object)?.claim(first, second),
    ({ host }, { operation, object }) => host.database.transaction(object)?.commit(operation),
    ({ host }, { object }) => host.database.forget(object),
    // locks: bits for exclusive, if available, steal
    ({ host }) => host.locks.available,
    ({ host }, { operation, number, first }) =>
        host.locks.request(operation, first, {
            mode: number & 1 ? 'exclusive' : 'shared',
            ifAvailable: (number & 2) > 0,
            steal: (number & 4) > 0,
        }),
    ({ host }, { object }) => host.locks.release(object),
    ({ host }, { object }) => host.locks.abort(object),
    ({ host }, { operation }) => host.locks.query(operation),
    // channel; a post's number is 1 of what can wait
    ({ host }, { object, first }) => host.channels.open(object, first),
    ({ host }, { object, number, first }) =>
        number ? host.channels.postDeferred(object, first) : host.channels.post(object, first),
    ({ host }, { object }) => host.channels.close(object),
    // clock
    ({ host }) => host.clock.now(),
    ({ host }, { operation, number }) => host.clock.sleep(operation, number),
    ({ host }, { operation, number }) => void host.clock.afterMicrotasks(operation, number),
    ({ host }) => host.clock.random32(),
    ({ host }) => host.lifecycle.state,
    // the callers of the core
    ({ promises }, { object, number, first }) => promises.resolve(object, first ? first.split('\0') : number),
    ({ promises }, { object, first, second }) => promises.reject(object, first, second),
    ({ callbacks }, { object }) => callbacks.changed.get(object)?.(),
    ({ owner }, { object, number, first, second }) => {
        const [message = '', previous = '', ...subject] = second.split('\0');
        owner.notice({
            lost: object > 0,
            code: first,
            message,
            previous,
            subject: subject.join('\0'),
            recovered: number,
        });
    },
    ({ callbacks }, { object, first }) => callbacks.lost.get(object)?.(first),
    ({ callbacks }, { object }) => callbacks.unlocked.get(object)?.(),
    ({ host }) => host.clock.monotonic(),
    ({ callbacks }, { object, number, first, second }) =>
        callbacks.queue.get(object)?.(number, first, second),
];
