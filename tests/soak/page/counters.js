/** Counters, with and without a flush, of several strategies. */

/** @typedef {import('./operations.js').Context} Context */

const ADDS_MOST = 20;

/** The counters by their names. @type {Record<string, import('tabacus').CounterOptions>} */
export const COUNTERS = {
    relaxed: {},
    strict: { durability: 'strict' },
    transactional: { strategy: 'transactional' },
    deltas: { strategy: 'deltas', threshold: 0 }, // otherwise a read may be a second old
    batched: { strategy: 'batched', interval: 100 },
};

const NAMES = Object.keys(COUNTERS);

/** What this page has added and not seen acknowledged, by counter. @type {Map<string, { plus: number, minus: number }>} */
const pending = new Map();

/** @param {string} name @returns {{ plus: number, minus: number }} */
function takePending(name) {
    const sums = pending.get(name) ?? { plus: 0, minus: 0 };
    pending.set(name, { plus: 0, minus: 0 });
    return sums;
}

/** @param {string} name @param {number} plus @param {number} minus */
function addPending(name, plus, minus) {
    const sums = takePending(name);
    pending.set(name, { plus: sums.plus + plus, minus: sums.minus + minus });
}

/** @param {Context} context @param {string} name @returns {any} */
const counterOf = ({ tab }, name) => tab.counter(name, COUNTERS[name]);

/** Commits all adds of this page to a counter before now. @param {Context} context @param {string} name */
async function flush(context, name) {
    const { plus, minus } = takePending(name);
    try {
        await counterOf(context, name).flush();
    } catch (error) {
        addPending(name, plus, minus);
        throw error;
    }
    await context.write({ type: 'acknowledge', name, plus, minus });
}

/** Reads a counter. @param {Context} context @param {string} name */
export async function readCounter(context, name) {
    await context.write({ type: 'read-begin', name });
    const value = await counterOf(context, name).read();
    await context.write({ type: 'read-end', name, value });
}

export const counters = {
    /** @param {Context} context */
    async count(context) {
        const { random, write } = context;
        const name = NAMES[random(NAMES.length)] ?? '';
        const amounts = Array.from({ length: 1 + random(ADDS_MOST) }, () => random(7) - 2);
        const plus = amounts.reduce((sum, n) => sum + Math.max(n, 0), 0);
        const minus = amounts.reduce((sum, n) => sum + Math.max(-n, 0), 0);
        await write({ type: 'attempt', name, plus, minus });
        await Promise.all(amounts.map((n) => counterOf(context, name).add(n)));
        addPending(name, plus, minus);
        if (random(2) === 0) await flush(context, name);
    },

    /** @param {Context} context */
    async readCounter(context) {
        await readCounter(context, NAMES[context.random(NAMES.length)] ?? '');
    },
};
