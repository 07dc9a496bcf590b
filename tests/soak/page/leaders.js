/** Terms of a leader, and calls that leaders answer. */

import { during, pause, STORE } from './holds.js';

/** @typedef {import('./operations.js').Context} Context */

/** How long a term lasts. */
export const TERM_LEAST_MS = 100;
export const TERM_MOST_MS = 2000;

/** Every page is a candidate again and again, so that there is a leader most of the time. */
export const LEAD_TIMEOUT_MS = 10_000;

/** Longer than an eviction. */
export const CALL_TIMEOUT_MS = 12_000;

/** The key of the number of calls that were answered. */
export const CALLS = 'calls';

/**
 * Counts a call in the transaction that commits its answer.
 *
 * @param {unknown} request
 * @param {any} call
 */
const answerOf = (request, call) => {
    call.write(STORE, async (/** @type {import('tabacus').FencedTransaction} */ tx) => {
        tx.put(STORE, CALLS, ((await tx.get(STORE, CALLS)) ?? 0) + 1);
    });
    return request;
};

export const leaders = {
    /** @param {Context} context */
    async lead(context) {
        const { tab, random } = context;
        const term = await tab.leader('leader').lead({ timeout: LEAD_TIMEOUT_MS });
        try {
            const held = { token: term.number, signal: term.signal };
            await during(context, { name: 'leader' }, held, async () => {
                const answering = term.answer(answerOf);
                answering.catch(() => {});
                await pause(TERM_LEAST_MS + random(TERM_MOST_MS));
            });
        } finally {
            term.handOver();
        }
    },

    /** @param {Context} context */
    async callLeader({ tab, op }) {
        const answer = await tab.leader('leader').call(op, { timeout: CALL_TIMEOUT_MS });
        if (answer !== op) throw new Error(`the leader answered ${answer} to ${op}`);
    },
};
