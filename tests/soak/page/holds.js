/** Holds of locks, semaphores and leaders, whose intervals are in the event log. */

/** @typedef {import('./operations.js').Context} Context */

/** How long a hold lasts at most. */
const HOLD_MOST_MS = 30;

/** The longest wait for a lock. */
export const LOCK_TIMEOUT_MS = 4000;

/** The store of the values that are written under locks. */
export const STORE = 'soak';

/** @param {number} pause_ms */
export const pause = (pause_ms) => new Promise((resolve) => setTimeout(resolve, pause_ms));

/**
 * Writes the beginning of a hold before `body` runs, and its end before the lock is released. So two holds that
 * overlapped for as long as their bodies overlap in the log.
 *
 * @template T
 * @param {Context} context
 * @param {{ name: string, permits?: number, shared?: boolean }} what
 * @param {{ token: number | null, signal: AbortSignal }} held
 * @param {() => T | Promise<T>} body
 * @returns {Promise<T>}
 */
export async function during({ write }, what, held, body) {
    const lost = () => void write({ type: 'lost', name: what.name, token: held.token }).catch(() => {});
    held.signal.addEventListener('abort', lost);
    await write({ type: 'hold', ...what, token: held.token });
    try {
        return await body();
    } finally {
        held.signal.removeEventListener('abort', lost);
        await write({ type: 'release', name: what.name, token: held.token });
    }
}

/**
 * Adds one to the number that is kept under the fence of a lock, and writes what was found there.
 *
 * @param {Context} context
 * @param {string} name
 * @param {import('tabacus').Held} held
 */
async function commit({ write }, name, held) {
    await write({ type: 'commit-begin', name });
    const done = await held.commit(STORE, async (tx) => {
        const { number = 0, token = 0 } = (await tx.get(STORE, name)) ?? {};
        tx.put(STORE, name, { number: number + 1, token: held.token });
        return { number: number + 1, before: token };
    });
    await write({ type: 'commit-end', name, token: held.token, ...done });
}

/** The names of the locks. */
export const LOCKS = ['lock-0', 'lock-1', 'lock-2'];

/** The options by which a request may differ from others. @param {Context} context */
const waits = ({ random, lacks }) => ({
    timeout: LOCK_TIMEOUT_MS,
    ...(random(4) === 0 && !lacks.includes('lock.evictUnresponsive') ? { evictUnresponsive: true } : {}),
});

export const holds = {
    /** @param {Context} context */
    async lock(context) {
        const { tab, random } = context;
        const name = LOCKS[random(LOCKS.length)] ?? '';
        const commits = random(3);
        await tab.lock(name).run(
            (held) =>
                during(context, { name }, held, async () => {
                    for (let i = 0; i < commits; i++) await commit(context, name, held);
                    await pause(random(HOLD_MOST_MS));
                }),
            waits(context),
        );
    },

    /** @param {Context} context */
    async sharedLock(context) {
        const { tab, random } = context;
        const name = LOCKS[random(LOCKS.length)] ?? '';
        await tab
            .lock(name)
            .run((held) => during(context, { name, shared: true }, held, () => pause(random(HOLD_MOST_MS))), {
                mode: 'shared',
                ...waits(context),
            });
    },

    /** @param {Context} context */
    async lockAll(context) {
        const { tab, random } = context;
        const first = random(LOCKS.length);
        const names = [first, (first + 1) % LOCKS.length].map((index) => LOCKS[index] ?? '');
        await tab.lockAll(
            names,
            async (/** @type {import('tabacus').Held[]} */ held) => {
                const [a, b] = /** @type {[any, any]} */ (held);
                const [nameA = '', nameB = ''] = names;
                await during(context, { name: nameA }, a, () =>
                    during(context, { name: nameB }, b, () => commit(context, nameB, b)),
                );
            },
            { timeout: LOCK_TIMEOUT_MS },
        );
    },

    /** @param {Context} context */
    async semaphore(context) {
        const { tab, random } = context;
        const [name, permits] = ['semaphore', 2];
        await tab
            .semaphore(name, permits)
            .run((held) => during(context, { name, permits }, held, () => pause(random(HOLD_MOST_MS))), {
                timeout: LOCK_TIMEOUT_MS,
            });
    },
};
