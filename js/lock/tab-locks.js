/** The locks of a tab. */

import { DeadlockError, invalid, TabacusError } from '../common/errors.js';
import { reportTo } from '../host/failure.js';
import { checkTimeout, checkOptions, checkSignal } from '../common/check-arguments.js';
import { FencedTransaction, Held } from './held.js';
import { coreName, domName } from './names.js';
import { checkLockOptions, checkOnceOptions, checkSemaphoreOptions } from './lock-options.js';
import { cloned } from './store-arguments.js';
import { isThenable, cloneError, unlessLost, unwrapOutcome } from './outcome.js';

/**
 * @typedef {object} LockRequestInfo
 * @property {'held' | 'waiting'} state
 * @property {'exclusive' | 'shared'} mode
 * @property {string} label
 * @property {number} since milliseconds since the Unix epoch
 * @property {string} tab names the context that asked
 */

/**
 * @typedef {object} LockCapabilities
 * @property {'web-locks' | 'lease' | 'page'} exclusion by the browser, by a lease in IndexedDB, or within
 *   this page only
 * @property {boolean} fenced whether held.commit() works
 */

/** @param {TabacusError} error */
const raise = (error) => {
    throw error;
};

export class TabLocks {
    #bridge;
    #host;
    #platform;

    /** Why no call is taken any more. @type {TabacusError | undefined} */
    #closed;
    #allowed;

    /** @type {Map<number, Held>} */
    #held = new Map();

    /** @type {Map<number, () => void>} */
    #watches = new Map();

    /** Withdraws what waits. @type {Set<() => void>} */
    #waiting = new Set();

    /**
     * @param {import('../core/bridge.js').Bridge} bridge
     * @param {{ platform: import('../host/host.js').Platform, allowWeaker: boolean }} options
     */
    constructor(bridge, { platform, allowWeaker }) {
        this.#host = bridge.host;
        this.#platform = platform;
        this.#bridge = bridge;
        const [exclusion, fenced, tab] = bridge.promises.now((id) =>
            bridge.invoke('_locks_capabilities', [], id),
        );
        /** @type {Readonly<LockCapabilities>} */
        this.capabilities = Object.freeze({
            exclusion: /** @type {any} */ (exclusion),
            fenced: fenced !== '',
        });
        this.tab = tab;
        this.#allowed = allowWeaker || this.capabilities.fenced;
    }

    /** Loses the lock if its maxHold is over. @param {number} id @internal */
    _checkMaxHold(id) {
        if (!this.#closed) this.#bridge.number('_lock_check', id);
    }

    /**
     * @template T
     * @param {string[]} names
     * @param {(held: any) => T | Promise<T>} use
     * @param {unknown} options
     * @param {boolean} all whether `use` is given an array
     * @returns {Promise<T>}
     */
    async run(names, use, options, all) {
        return this.#acquire('_lock_acquire', [], names, checkLockOptions(options), (held) =>
            this.use(held, use, all),
        );
    }

    /**
     * @template T
     * @param {Held[]} held none: not available
     * @param {(held: any) => T | Promise<T>} use
     * @param {boolean} all whether `use` is given an array
     * @returns {T | Promise<T>}
     */
    use(held, use, all) {
        if (held.length === 0) return use(/** @type {any} */ (null));
        const release = () => {
            for (const one of held.toReversed?.() ?? [...held].reverse()) one.release();
        };
        let used;
        try {
            used = use(all ? held : held[0]);
            if (isThenable(used)) return unlessLost(held, used, release);
        } catch (error) {
            release();
            throw error;
        }
        // Before a function that does not wait has ended nothing can be lost but by its taking too long.
        try {
            for (const one of held) {
                one._checkMaxHold();
                one._whenLost(raise);
            }
        } finally {
            release();
        }
        return used;
    }

    /**
     * @param {string[]} names
     * @param {unknown} given
     * @returns {Promise<Held[]>} none: not available
     */
    async acquire(names, given) {
        return this.#acquire('_lock_acquire', [], names, checkLockOptions(given), (held) => held);
    }

    /**
     * @param {string} name
     * @param {number} permits
     * @param {unknown} [given]
     * @returns {Promise<Held[]>} none: not available
     */
    async permit(name, permits, given) {
        return this.#acquire(
            '_semaphore_acquire',
            [permits],
            [name],
            checkSemaphoreOptions(given),
            (held) => held,
        );
    }

    /**
     * @template T
     * @param {string} call
     * @param {number[]} numbers
     * @param {string[]} names
     * @param {ReturnType<typeof checkLockOptions>} options
     * @param {(held: Held[]) => T | Promise<T>} granted called as soon as it is
     * @returns {Promise<T>}
     */
    #acquire(call, numbers, names, options, granted) {
        this.#assertOpen();
        const bits =
            (options.mode === 'shared' ? 1 : 0) | (options.ifAvailable ? 2 : 0) | (options.steal ? 4 : 0);
        const { within } = options;
        if (within && !within._isOf(this)) throw invalid('within', within, 'what holds a lock of this tab');
        const { timeout, maxHold, label } = options;
        const limited = maxHold >= 0 || within !== undefined;
        /** @param {string | number} number @param {number} index */
        const hold = (number, index) =>
            this.#hold(Number(number), /** @type {string} */ (names[index]), label, limited);
        return this.#wait(
            options.signal,
            (request, id) =>
                this.#bridge.invoke(
                    call,
                    [label, ...names.map((name) => this.#name(name))],
                    ...numbers,
                    bits,
                    timeout,
                    maxHold,
                    within?._id ?? 0,
                    request,
                    id,
                ),
            (answer) => {
                const held = answer
                    ? (typeof answer === 'number' ? [answer] : answer.slice(0, -1)).map(hold)
                    : [];
                this.#assertKept(held);
                return granted(held);
            },
        );
    }

    /**
     * @template T
     * @param {string} key
     * @param {(run: { signal: AbortSignal, token: number }) => T | Promise<T>} make
     * @param {number} called_ms before this module was loaded: what finished since will do
     * @param {unknown} given
     * @returns {Promise<T>}
     */
    async once(key, make, called_ms, given) {
        const { signal, timeout, maxHold, ttl } = checkOnceOptions(given);
        this.#assertOpen();
        this.#assertStore('outcomes');
        const [kind, text] = await this.#wait(
            signal,
            (request, id) =>
                this.#bridge.invoke(
                    '_once_enter',
                    [this.#name(key)],
                    timeout,
                    maxHold,
                    ttl,
                    called_ms,
                    request,
                    id,
                ),
            (answer) => answer,
        );
        if (kind !== 'h') return unwrapOutcome(kind === 's', this.#host.values.take(text));
        const held = this.#hold(Number(text), key, '', maxHold >= 0);
        this.#assertKept([held]);
        /** @type {{ succeeded: boolean, result: any }} */
        let outcome;
        try {
            const run = { signal: held.signal, token: /** @type {number} */ (held.token) };
            const value = await unlessLost([held], make(run));
            if (value !== undefined) cloned('value', value);
            outcome = { succeeded: true, result: { value } };
        } catch (error) {
            if (!held.held) {
                held.release();
                throw error;
            }
            outcome = { succeeded: false, result: cloneError(error) };
            await this.#settle(key, held, outcome);
            throw error;
        }
        await this.#settle(key, held, outcome);
        return outcome.result.value;
    }

    /**
     * @param {string} key
     * @param {Held} held
     * @param {{ succeeded: boolean, result: object }} outcome
     */
    async #settle(key, held, { succeeded, result }) {
        this.#held.delete(held._id);
        const { values } = this.#host;
        const number = values.keep(result);
        try {
            await this.#bridge.promises.make((id) =>
                this.#bridge.invoke('_once_settle', [coreName(key), number], held._id, succeeded ? 1 : 0, id),
            );
        } finally {
            values.take(number);
        }
    }

    /**
     * @param {number} id
     * @param {string} name
     * @param {string} label
     * @param {boolean} limited whether it may have a maxHold
     */
    #hold(id, name, label, limited) {
        const token = this.#bridge.number('_lock_token', id);
        // Also one that was entered again as shared is what it is held as.
        const mode = Number.isNaN(token) ? 'shared' : 'exclusive';
        const held = new Held(
            this,
            id,
            { name, mode, label, token: mode === 'shared' ? null : token },
            limited,
        );
        this.#held.set(id, held);
        this.#bridge.callbacks.lost.set(id, (reason) => held._lose(reason));
        return held;
    }

    /**
     * What was granted while this was being closed is let go.
     * @param {Held[]} held
     */
    #assertKept(held) {
        if (!this.#closed) return;
        for (const { _id } of held) this.#forget(_id);
        throw this.#closed;
    }

    /** @param {number} id */
    #forget(id) {
        this.#held.delete(id);
        this.#bridge.callbacks.lost.delete(id);
        this.#bridge.number('_lock_release', id);
    }

    /**
     * @param {string} name
     * @returns {Promise<LockRequestInfo[]>}
     */
    async query(name) {
        return (await this.#requestsOf(name)).map(({ info }) => info);
    }

    /** @param {string} name */
    async #requestsOf(name) {
        this.#assertOpen();
        const texts = await this.#bridge.promises.make((id) =>
            this.#bridge.invoke('_lock_query', [this.#name(name)], id),
        );
        return requestsFrom(texts ? texts.slice(0, -1) : []);
    }

    /**
     * Returns the requests for all names of the namespace, held ones first, each in order.
     * @returns {Promise<(LockRequestInfo & { name: string })[]>}
     */
    async queryAll() {
        this.#assertOpen();
        const names = await this.#bridge.promises.make((id) => this.#bridge.invoke('_lock_names', [], id));
        const found = await Promise.all(
            (names ? names.slice(0, -1).map(domName) : []).map(async (/** @type {string} */ name) =>
                (await this.#requestsOf(name)).map(({ since_us, info }) => ({
                    since_us,
                    info: { name, ...info },
                })),
            ),
        );
        const held = (/** @type {LockRequestInfo} */ { state }) => Number(state === 'held');
        return found
            .flat()
            .sort((a, b) => held(b.info) - held(a.info) || a.since_us - b.since_us)
            .map(({ info }) => info);
    }

    /**
     * @param {string} name
     * @param {unknown} given
     */
    async waitForUnlock(name, given = {}) {
        const { signal, timeout } = checkOptions(given, ['signal', 'timeout']);
        const limit = checkTimeout(timeout) ?? -1;
        this.#assertOpen();
        await this.#wait(
            checkSignal(signal),
            (request, id) => this.#bridge.invoke('_lock_wait', [this.#name(name)], limit, request, id),
            () => {},
        );
    }

    /**
     * @param {string} name
     * @param {(requests: LockRequestInfo[]) => void} listener
     * @returns {() => void}
     */
    subscribe(name, listener) {
        this.#assertOpen();
        const watch = this.#bridge.take();
        let asking = false;
        let again = false;
        const report = async () => {
            again = asking;
            if (asking) return;
            asking = true;
            try {
                const state = await this.query(name);
                if (this.#watches.has(watch)) listener(state);
            } catch (error) {
                if (!this.#closed) reportTo(this.#platform, error);
            }
            asking = false;
            if (again) void report();
        };
        this.#watches.set(watch, () => void report());
        this.#bridge.callbacks.unlocked.set(watch, () => this.#changed(watch));
        this.#bridge.invoke('_lock_watch', [this.#name(name)], watch);
        void report();
        return () => {
            if (this.#watches.delete(watch)) this.#unwatch(watch);
        };
    }

    /**
     * @param {string} name of a leader
     * @param {object} kept the request
     * @param {{ key: string | undefined, signal: AbortSignal | undefined, timeout: number | undefined }} options
     * @returns {Promise<any>} what the leader answers
     */
    async callLeader(name, kept, { key, signal, timeout = -1 }) {
        this.#assertOpen();
        this.#assertStore('calls');
        const { values } = this.#host;
        const number = values.keep(kept);
        const texts = [this.#name(name), number, ...(key === undefined ? [] : [key])];
        try {
            const [kind, text] = await this.#wait(
                signal,
                (request, id) => this.#bridge.invoke('_leader_call', texts, timeout, request, id),
                (answer) => answer,
            );
            return unwrapOutcome(kind === 's', values.take(text));
        } finally {
            values.take(number);
        }
    }

    /**
     * @param {string} name
     * @param {Held} term
     */
    async beginTerm(name, term) {
        this.#assertOpen();
        this.#assertStore('calls');
        term.assertHeld();
        await this.#bridge.promises.make((id) =>
            this.#bridge.invoke('_leader_begin', [this.#name(name)], term._id, id),
        );
    }

    /**
     * @param {string} name
     * @param {Held} term
     * @returns {Promise<{ id: string, request: unknown } | undefined>} undefined: it was handed over
     */
    async nextCall(name, term) {
        this.#assertOpen();
        const found = await this.#bridge.promises.make((id) =>
            this.#bridge.invoke('_leader_next', [coreName(name)], term._id, id),
        );
        if (!found) return undefined;
        return { id: found[0], request: /** @type {any} */ (this.#host.values.take(found[1])).request };
    }

    /**
     * One transaction, under the term's fence: the answer in place of the call, and what goes with it. Of a
     * call that was taken back, nothing.
     *
     * @param {string} name
     * @param {Held} term
     * @param {string} call
     * @param {{ succeeded: boolean, result: object }} answer
     * @param {{ stores: string[], write: (tx: FencedTransaction) => unknown }[]} writes
     */
    async answerCall(name, term, call, { succeeded, result }, writes) {
        this.#assertOpen();
        term.assertHeld();
        const { promises } = this.#bridge;
        const transaction = await promises.make((id) =>
            this.#bridge.invoke('_leader_answering', [coreName(name), call], term._id, id),
        );
        if (!transaction) return;
        const { values } = this.#host;
        const number = values.keep(result);
        try {
            await this.#transact(
                transaction,
                writes.flatMap(({ stores }) => stores),
                async (tx) => {
                    for (const { write } of writes) await write(tx);
                },
                (texts, id) =>
                    this.#bridge.invoke(
                        '_leader_answer',
                        [coreName(name), call, number, ...texts],
                        transaction,
                        succeeded ? 1 : 0,
                        id,
                    ),
            );
        } finally {
            values.take(number);
        }
    }

    /** Loses every lock, and withdraws what waits. */
    close() {
        if (this.#closed) return;
        this.#closed = new TabacusError('closed', 'the tab was closed before this was done');
        for (const [watch, changed] of this.#watches) {
            void Promise.resolve().then(changed);
            this.#unwatch(watch);
        }
        this.#watches.clear();
        for (const held of [...this.#held.values()]) {
            held._lose('closed');
            this.#forget(held._id);
        }
        for (const withdraw of [...this.#waiting]) withdraw();
    }

    /**
     * The program has failed, and is not called any more.
     * @param {TabacusError} error
     */
    _fail(error) {
        if (this.#closed) return;
        this.#closed = error;
        for (const held of [...this.#held.values()]) held._lose(error);
        this.#held.clear();
        this.#watches.clear();
    }

    /** @param {number} watch */
    #unwatch(watch) {
        this.#bridge.callbacks.unlocked.delete(watch);
        if (!this.#closed || this.#closed.code === 'closed') this.#bridge.number('_lock_unwatch', watch);
    }

    /**
     * @param {number} id
     * @internal
     */
    _release(id) {
        if (!this.#closed) this.#forget(id);
    }

    /**
     * @template T
     * @param {number} held
     * @param {string[]} stores
     * @param {(tx: FencedTransaction) => T | Promise<T>} write
     * @returns {Promise<T>}
     * @internal
     */
    async _commit(held, stores, write) {
        const transaction = await this.#bridge.promises.make((id) =>
            this.#bridge.invoke('_fenced_begin', [], held, id),
        );
        return this.#transact(transaction, stores, write, (texts, id) =>
            this.#bridge.invoke('_fenced_commit', texts, transaction, id),
        );
    }

    /**
     * @template T
     * @param {number} transaction
     * @param {string[]} stores
     * @param {(tx: FencedTransaction) => T | Promise<T>} write
     * @param {(texts: (string | null)[], promise: number) => void} commit
     * @returns {Promise<T>}
     */
    async #transact(transaction, stores, write, commit) {
        const { promises } = this.#bridge;
        const { values } = this.#host;
        /** @type {string[]} */
        const kept = [];
        try {
            const tx = new FencedTransaction(
                stores,
                async (store, key) => {
                    const found = await promises.make((id) =>
                        this.#bridge.invoke('_fenced_get', [store, key], transaction, id),
                    );
                    return found ? values.take(found[0]) : undefined;
                },
                async (store, prefix) => {
                    const found = await promises.make((id) =>
                        this.#bridge.invoke('_fenced_list', [store, prefix], transaction, id),
                    );
                    return found ? pairs(found.slice(0, -1), (number) => values.take(number)) : [];
                },
            );
            const result = await write(tx);
            const writes = tx._end((value) => {
                kept.push(values.keep(value));
                return /** @type {string} */ (kept.at(-1));
            });
            await promises.make((id) => commit(writes, id));
            return result;
        } catch (error) {
            if (!this.#closed) this.#bridge.invoke('_fenced_end', [], transaction);
            throw error;
        } finally {
            for (const number of kept) values.take(number);
        }
    }

    /** A name as the core knows it, which keeps something of it. @param {string} name */
    #name(name) {
        const known = coreName(name);
        this.#bridge.admit(known);
        return known;
    }

    /**
     * A call of the core that a signal can end.
     *
     * @template T
     * @param {AbortSignal | undefined} signal
     * @param {(request: number, promise: number) => void} start
     * @param {(answer: any) => T | Promise<T>} answered
     * @returns {Promise<T>}
     */
    #wait(signal, start, answered) {
        signal?.throwIfAborted();
        const request = this.#bridge.take();
        const abort = () => this.#bridge.number('_lock_abort', request);
        const ended = () => {
            signal?.removeEventListener('abort', abort);
            this.#waiting.delete(abort);
        };
        signal?.addEventListener('abort', abort);
        this.#waiting.add(abort);
        return this.#bridge.promises
            .make((id) => start(request, id))
            .then(
                (answer) => {
                    ended();
                    return answered(answer);
                },
                (error) => {
                    ended();
                    throw this.#closed ?? platformError(error, signal);
                },
            );
    }

    #assertOpen() {
        if (this.#closed?.code === 'internal') throw this.#closed; // called before the program failed
        if (this.#closed) throw new TabacusError('closed', 'the tab is closed: open() another');
        if (this.#allowed) return;
        throw new TabacusError(
            'weaker-guarantee',
            this.capabilities.exclusion === 'page'
                ? 'there are neither Web Locks nor IndexedDB here, so that a lock holds within this page only: open({ allowWeaker: true }) allows that'
                : 'there is no IndexedDB here, so that a lock has no fence: open({ allowWeaker: true }) allows that',
        );
    }

    /** @param {string} what */
    #assertStore(what) {
        if (!this.capabilities.fenced)
            throw new TabacusError('unavailable', `there is no IndexedDB here, in which ${what} are kept`);
    }

    /** @param {number} watch */
    #changed(watch) {
        // Not from within the core: the listener may call it.
        void Promise.resolve().then(() => this.#watches.get(watch)?.());
    }
}

/**
 * Aborts and timeouts as the platform has them.
 *
 * @param {TabacusError} error
 * @param {AbortSignal | undefined} signal
 */
function platformError(error, signal) {
    const { code, message } = /** @type {{ code: string, message: string }} */ (error);
    if (code === 'aborted') return signal?.aborted ? signal.reason : new DOMException(message, 'AbortError');
    if (code === 'timed-out') return new DOMException(message, 'TimeoutError');
    if (code === 'deadlock') return new DeadlockError(message);
    return error;
}

/**
 * @param {string[]} texts five for each, as LocksCore::query gives them
 * @returns {{ since_us: number, info: LockRequestInfo }[]}
 */
const requestsFrom = (texts) =>
    texts.flatMap((state, at) => {
        if (at % 5) return [];
        const [mode, label, since, tab] = texts.slice(at + 1, at + 5);
        const since_us = Number(since);
        const info = /** @type {LockRequestInfo} */ ({
            state,
            mode,
            label,
            since: Math.floor(since_us / 1000),
            tab,
        });
        return [{ since_us, info }];
    });

/**
 * @param {string[]} texts
 * @param {(number: string) => unknown} take
 * @returns {[string, unknown][]}
 */
const pairs = (texts, take) =>
    texts.flatMap((text, index) =>
        index % 2 ? [] : [[text, take(/** @type {string} */ (texts[index + 1]))]],
    );
