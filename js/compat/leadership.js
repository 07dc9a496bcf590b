/**
 * In place of broadcast-channel's leader election: createLeaderElection(channel) and its elector.
 * Leadership is tab.leader()'s: never two leaders that both can still write through their term.
 *
 * @module
 */

import { lazyTab } from './lazy-tab.js';

/** @typedef {{ readonly name: string, close?: (...given: any[]) => any }} Channel */

/** @type {WeakSet<Channel>} */
const elected = new WeakSet();

/**
 * @param {Channel} channel of which the elector takes the name, and dies when it is closed
 * @param {{ tab?: import('../tab/tab.js').Tab | Promise<import('../tab/tab.js').Tab>, fallbackInterval?: number,
 *   responseTime?: number } | null} [options] a tab that is open already; the times of broadcast-channel are not needed
 * @throws {Error} of a channel that has an elector: it would compete with itself
 */
export function createLeaderElection(channel, options) {
    const { tab } = options ?? {};
    if (elected.has(channel)) throw new Error('BroadcastChannel already has a leader-elector');
    const elector = new LeaderElection(channel, lazyTab('leadership', tab));
    elected.add(channel);
    return elector;
}

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

    /** Callers that await leadership, which applyOnce() may bring, too. @type {(() => void)[]} */
    #awaiting = [];

    /** There are no duplicate leaders: it is never called. */
    onduplicate = () => {};

    /** Tells electors apart. */
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

    /** No platform has an event for a channel that is closed. @param {Channel} channel */
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

    /** The term that it leads, whose number only rises. */
    get term() {
        return this.#term?.number ?? null;
    }

    get isDead() {
        return this.#ended.signal.aborted;
    }

    /** Whether anybody leads. */
    async hasLeader() {
        return (await (await this.#tab()).leader(this.#name).current()) !== null;
    }

    /**
     * Tries once.
     * @param {boolean} [_isFromFallbackInterval] of broadcast-channel: not needed
     * @returns {Promise<boolean>} whether it leads
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

    /** Resolves when it leads; never, after die(). */
    awaitLeadership() {
        if (this.isLeader) return Promise.resolve();
        this.#candidacy ??= this.#waitForTerm();
        /** @type {Promise<void>} */
        const applied = new Promise((resolve) => this.#awaiting.push(resolve));
        return Promise.race([this.#candidacy, applied]);
    }

    /** Stops leading, and stops waiting to lead; the next one leads. */
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

    /** @param {import('../lock/leader.js').Term | null} term */
    #begin(term) {
        if (!term) return;
        // An elector that waited and applied at once may keep only one of both: a second would wait for itself.
        if (this.isDead || this.isLeader) term.handOver();
        else this.#term = term;
        if (this.isLeader) for (const resolve of this.#awaiting.splice(0)) resolve();
    }
}
