/**
 * In place of broadcast-channel's leader election: createLeaderElection(channel) and its elector.
 * Leadership is tab.leader()'s: never two leaders that both can still write through their term.
 *
 * @module
 */

import { opener } from './opened.js';

/**
 * @param {{ readonly name: string }} channel of which the elector takes the name only
 * @param {{ tab?: import('../tab/tab.js').Tab | Promise<import('../tab/tab.js').Tab> }} [options] a tab that is open
 *   already
 */
export const createLeaderElection = (channel, { tab } = {}) => new LeaderElection(channel.name, opener('leadership', tab));

export class LeaderElection {
    #name;
    #tab;
    #ended = new AbortController();

    /** @type {import('../lock/leader.js').Term | null} */
    #term = null;

    /** @type {Promise<void> | undefined} */
    #standing;

    /**
     * @param {string} name
     * @param {() => Promise<import('../tab/tab.js').Tab>} tab
     * @internal
     */
    constructor(name, tab) {
        this.#name = name;
        this.#tab = tab;
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

    /** Tries once. @returns {Promise<boolean>} whether it leads */
    async applyOnce() {
        if (!this.isLeader && !this.isDead) {
            const term = await (await this.#tab()).leader(this.#name).lead({ ifAvailable: true });
            this.#begin(term);
        }
        return this.isLeader;
    }

    /** Resolves when it leads; never, after die(). */
    awaitLeadership() {
        if (this.isLeader) return Promise.resolve();
        this.#standing ??= this.#stand();
        return this.#standing;
    }

    /** Leads no more, and stands no more. */
    async die() {
        this.#ended.abort();
        this.#term?.handOver();
    }

    async #stand() {
        try {
            const { signal } = this.#ended;
            this.#begin(await (await this.#tab()).leader(this.#name).lead({ signal }));
        } catch (error) {
            if (this.isDead) await new Promise(() => {});
            throw error;
        } finally {
            this.#standing = undefined;
        }
    }

    /** @param {import('../lock/leader.js').Term | null} term */
    #begin(term) {
        if (!term) return;
        this.#term = term;
        if (this.isDead) term.handOver();
    }
}
