/** Tabs of two packages in one browser: how a tab opens one of them, uses all parts of it, and reports what it did. */

/** @typedef {import('./tab.js').Tab} Tab */

export const EARLIER = '/earlier/dist/web/tabacus.js';
export const PRESENT = '/dist/web/tabacus.js';
export const LATER = '/later/dist/web/tabacus.js';

/** The rights of the budget. */
export const LIMIT = 12;

/** The steps of a round: the parts that it uses, in an order that work() takes. */
export const STEPS = /** @type {const} */ (['count', 'lock', 'number', 'rights', 'job']);

/**
 * Opens the namespace by a package.
 *
 * @param {Tab} tab
 * @param {string} address
 * @param {string} name
 * @param {{ handles?: boolean }} [options]  whether the tab handles jobs
 */
export const openBy = (tab, address, name, { handles = true } = {}) =>
    tab.evaluate(
        async (from, namespace, handling) => {
            const { open } = await import(from);
            const page = /** @type {any} */ (globalThis);
            page.ours = await open({ namespace });
            Object.assign(page, { runs: [], warnings: [] });
            page.ours.addEventListener('warning', (/** @type {any} */ { detail }) =>
                page.warnings.push(detail.code),
            );
            if (handling)
                page.ours.queue('q').handle((/** @type {any} */ { payload }) => void page.runs.push(payload));
        },
        address,
        name,
        handles,
    );

/**
 * Uses all parts in each round, and returns what was not refused. A call may be refused with `version-mismatch` if the tab
 * is the older one of two versions with different formats.
 *
 * @param {Tab} tab
 * @param {object} how
 * @param {string} how.name
 * @param {number} how.rounds
 * @param {boolean} how.mayBeRefused
 * @param {readonly string[]} [how.steps]
 */
export const work = (tab, { name, rounds, mayBeRefused, steps = STEPS }) =>
    tab.evaluate(
        async (me, count, limit, excused, order) => {
            const { ours } = /** @type {any} */ (globalThis);
            const done = {
                counted: 0,
                locked: 0,
                numbers: /** @type {number[]} */ ([]),
                taken: 0,
                jobs: /** @type {string[]} */ ([]),
            };
            const unlessRefused = (
                /** @type {Promise<any>} */ call,
                /** @type {(value: any) => unknown} */ then,
            ) =>
                call.then(then, (error) => {
                    if (!excused || error.code !== 'version-mismatch') throw error;
                });
            // Two transactions: another holder between them would be overwritten.
            const section = async (/** @type {any} */ held) => {
                const sum = await held.commit('s', (/** @type {any} */ tx) => tx.get('s', 'sum'));
                await held.commit('s', (/** @type {any} */ tx) => tx.put('s', 'sum', (sum ?? 0) + 1));
                ++done.locked;
            };
            const take = () =>
                unlessRefused(ours.budget('b', { limit }).tryTake(), (got) => (done.taken += Number(got)));
            /** @type {Record<string, (job: string) => Promise<unknown>>} */
            const parts = {
                count: async () => {
                    ours.counter('c').add(1);
                    await ours.counter('c').flush();
                    ++done.counted;
                },
                lock: () => unlessRefused(ours.lock('l').run(section), () => {}),
                number: () => unlessRefused(ours.sequence('n').next(), (number) => done.numbers.push(number)),
                rights: () => take().then(take),
                job: (job) => unlessRefused(ours.queue('q').enqueue(job), () => done.jobs.push(job)),
            };
            for (let round = 0; round < count; ++round)
                for (const step of order) await parts[step]?.(`${me}${round}`);
            return done;
        },
        name,
        rounds,
        LIMIT,
        mayBeRefused,
        steps,
    );

/** @param {Tab} tab @returns {Promise<{ runs: string[], warnings: string[] }>} */
export const seen = (tab) =>
    tab.evaluate(() => {
        const { runs, warnings } = /** @type {any} */ (globalThis);
        return { runs, warnings };
    });

/** What a tab reads at the end. @param {Tab} tab @returns {Promise<number[]>} the counter, and the sum that the lock guards */
export const readBy = (tab) =>
    tab.evaluate(async () => {
        const { ours } = /** @type {any} */ (globalThis);
        const read = (/** @type {any} */ held) =>
            held.commit('s', (/** @type {any} */ tx) => tx.get('s', 'sum'));
        return [await ours.counter('c').read(), await ours.lock('l').run(read)];
    });
