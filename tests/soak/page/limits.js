/** Sequences, budgets and rate limits. */

import { pause } from './holds.js';

/** @typedef {import('./operations.js').Context} Context */

/** The longest wait of a call. */
export const LIMIT_TIMEOUT_MS = 6000;

/** What one take asks for at most. */
const TAKE_MOST = 12;

/** How long a part of the budget is kept. */
const KEEP_MOST_MS = 60;

/** What all tabs may take together. */
export const BUDGET = 30;

/** The grants of the rate limit in an interval. */
export const RATE = { limit: 15, interval: 1000 };

export const limits = {
    /** @param {Context} context */
    async sequence({ tab, random }) {
        const gapless = random(3) === 0;
        const name = gapless ? 'gapless' : 'sequence';
        const sequence = tab.sequence(name, { block: 20, gapless });
        const waits = { timeout: LIMIT_TIMEOUT_MS };
        if (random(4) > 0) {
            const first = await sequence.next(waits);
            return { name, first, last: first };
        }
        return { name, ...(await sequence.reserve(1 + random(5), waits)) };
    },

    /** Takes a part of the budget, and gives it back. @param {Context} context */
    async budget({ tab, random, write, budget: name }) {
        const n = 1 + random(TAKE_MOST);
        const budget = tab.budget(name, { limit: BUDGET });
        if (!(await budget.tryTake(n, { timeout: LIMIT_TIMEOUT_MS }))) return { taken: 0 };
        await write({ type: 'taken', name, n });
        await pause(random(KEEP_MOST_MS));
        await write({ type: 'give-begin', name, n });
        await budget.give(n, { timeout: LIMIT_TIMEOUT_MS });
        return { taken: n };
    },

    /** @param {Context} context */
    async rateLimit({ tab, random }) {
        const limit = tab.rateLimit('rate', RATE);
        if (random(2) === 0) {
            const granted = await limit.tryTake({ timeout: LIMIT_TIMEOUT_MS });
            return granted ? { granted_ms: performance.timeOrigin + performance.now() } : {};
        }
        await limit.take({ timeout: LIMIT_TIMEOUT_MS });
        return { granted_ms: performance.timeOrigin + performance.now() };
    },
};
