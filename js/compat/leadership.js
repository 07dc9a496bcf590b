/**
 * A replacement for the leader election of the package broadcast-channel: createLeaderElection(channel) and
 * its elector. It uses tab.leader(): if two tabs both believe that they lead, only one of them can write
 * through its term.
 *
 * @module
 */

import { lazyTab } from './lazy-tab.js';

/** @typedef {{ readonly name: string, close?: (...given: any[]) => any }} Channel */

/** @type {WeakSet<Channel>} */
const elected = new WeakSet();

/**
 * Makes an elector for a channel.
 *
 * @param {Channel} channel the leadership has the name of the channel, and the elector dies when the channel
 *   is closed
 * @param {{ tab?: import('../tab/tab.js').Tab | Promise<import('../tab/tab.js').Tab>, fallbackInterval?:
 *   number, responseTime?: number } | null} [options] `tab`: a tab that is already open. By default the
 *   elector opens one of its own. The times, which are options of broadcast-channel, are ignored
 * @throws {Error} if the channel has an elector already
 */
export function createLeaderElection(channel, options) {
    const { tab } = options ?? {};
    if (elected.has(channel)) throw new Error('BroadcastChannel already has a leader-elector');
    const elector = new LeaderElection(channel, lazyTab('leadership', tab));
    elected.add(channel);
    return elector;
}

/** An elector: a candidate for the leadership of a channel. */
export class LeaderElection {
    #name;
    #tab;
    #ended = new AbortController();

    /** @type {import('../lock/leader.js').Term | null} */
    #term = null;

    /** @type {Promise<void> | undefined} */
    #candidacy;

    /** @type {Promise<void> | undefined} */
    #applying;

    /**
     * The callers of awaitLeadership(). A call of applyOnce() may resolve them, too.
     * @type {(() => void)[]}
     */
    #awaiting = [];

    /** A callback for duplicate leaders. It is never called, because there are none. */
    onduplicate = () => {};

    /** A random identifier of this elector. */
    token = Math.random().toString(36).slice(2);

    /**
     * @param {Channel} channel
     * @param {() => Promise<import('../tab/tab.js').Tab>} tab
     * @internal
     */
    constructor(channel, tab) {
        this.broadcastChannel = channel;
        this.#name = channel.name;
        this.#tab = tab;
        this.#dieWith(channel);
    }

    /**
     * Makes the elector die when the channel is closed. Platforms have no event for that, so close() is
     * replaced.
     *
     * @param {Channel} channel
     */
    #dieWith(channel) {
        const { close } = channel;
        if (typeof close !== 'function') return;
        channel.close = (...given) => {
            void this.die();
            return Reflect.apply(close, channel, given);
        };
    }

    /** Whether this elector leads. */
    get isLeader() {
        return this.#term?.leads ?? false;
    }

    /**
     * The number of the term of this elector, which is greater than those of earlier leaders; null before it
     * leads.
     */
    get term() {
        return this.#term?.number ?? null;
    }

    /** Whether die() was called. */
    get isDead() {
        return this.#ended.signal.aborted;
    }

    /** Resolves with whether any elector leads. */
    async hasLeader() {
        return (await (await this.#tab()).leader(this.#name).current()) !== null;
    }

    /**
     * Tries once to become the leader, without waiting.
     * @param {boolean} [_isFromFallbackInterval] an argument of broadcast-channel, which is ignored
     * @returns {Promise<boolean>} whether this elector leads
     */
    async applyOnce(_isFromFallbackInterval) {
        if (this.isLeader || this.isDead) return this.isLeader;
        this.#applying ??= this.#apply();
        await this.#applying;
        return this.isLeader;
    }

    async #apply() {
        try {
            this.#begin(await (await this.#tab()).leader(this.#name).lead({ ifAvailable: true }));
        } finally {
            this.#applying = undefined;
        }
    }

    /** Waits until this elector leads. After die() it never resolves. */
    awaitLeadership() {
        if (this.isLeader) return Promise.resolve();
        this.#candidacy ??= this.#waitForTerm();
        /** @type {Promise<void>} */
        const applied = new Promise((resolve) => this.#awaiting.push(resolve));
        return Promise.race([this.#candidacy, applied]);
    }

    /** Ends the elector: it hands over its term, or withdraws its candidacy. */
    async die() {
        this.#ended.abort();
        this.#term?.handOver();
    }

    async #waitForTerm() {
        try {
            const { signal } = this.#ended;
            this.#begin(await (await this.#tab()).leader(this.#name).lead({ signal }));
        } catch (error) {
            if (this.isDead) await new Promise(() => {});
            throw error;
        } finally {
            this.#candidacy = undefined;
        }
    }

    /** Begins a term. @param {import('../lock/leader.js').Term | null} term */
    #begin(term) {
        if (!term) return;
        // awaitLeadership() and applyOnce() may both get a term. Only the first is kept.
        if (this.isDead || this.isLeader) term.handOver();
        else this.#term = term;
        if (this.isLeader) for (const resolve of this.#awaiting.splice(0)) resolve();
    }
}
