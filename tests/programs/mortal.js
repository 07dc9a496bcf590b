/**
 * A Worker that uses all robust objects of a memory without end, until it is terminated. It writes into a
 * notes what it has completed. One such Worker survives, and pauses on command.
 */

/** The words of the notes, and the indices of the numbers of each Worker in the notes of sums. */
export const words = {
    round: 0,
    pause: 1,
    first: 2,
    second: 3,
    told: 4,
    ready: 5,
    paused: 6,
    faults: 7,
    end: 8,
};
export const sums = { mutexed: 0, striped: 1, mutexedIntent: 2, stripedIntent: 3, end: 4 };

/** The mutexes are used in turn, one for each round. */
export const mutexesMax = 16;

/** The number of rounds in which new names are opened, so that the memory has space for all. */
const namesMax = 500;

/** How long a Worker stays inside, so that it often dies there. */
const insideRounds = 2_000;

/** An add of this amount makes a striped counter close its cells. */
export const amount = 2 ** 47;

/**
 * @param {(handle: any) => Promise<import('tabacus/worker').AttachedMemory>} attach
 * @param {(below: number) => number} random
 * @param {{ handle: import('tabacus/worker').SharedHandle, notes: Int32Array, own: BigInt64Array,
 *   operations: number, stays: boolean }} given `operations`: the number after which the Worker reports that
 *   it is ready, or 0 for the one that survives. The others hold the mutex `life …` of their round as long
 *   as they live. `stays`: whether it then stays inside a mutex
 */
export async function live(attach, random, { handle, notes, own, operations, stays }) {
    const shared = await attach(handle);
    if (operations > 0) shared.mutex(`life ${Atomics.load(notes, words.round) % mutexesMax}`).lock();
    const tasks = tasksOf(shared, notes, own, random);
    for (let done = 0; ; done++) {
        if (operations > 0 && done === operations) {
            if (stays) section(shared, notes, { stays });
            signal(notes, words.ready, 1);
        }
        if (operations === 0) pauseOnCommand(shared, notes);
        /** @type {() => void} */ (tasks[random(tasks.length)])();
    }
}

/** @param {Int32Array} notes @param {number} word @param {number} value */
function signal(notes, word, value) {
    Atomics.store(notes, word, value);
    Atomics.notify(notes, word);
}

/** @param {import('tabacus/worker').AttachedMemory} shared @param {Int32Array} notes */
function pauseOnCommand(shared, notes) {
    if (Atomics.load(notes, words.pause) === 0) return;
    section(shared, notes);
    signal(notes, words.paused, 1);
    Atomics.wait(notes, words.pause, 1);
}

/**
 * Runs one section under the mutex of the round.
 *
 * @param {import('tabacus/worker').AttachedMemory} shared
 * @param {Int32Array} notes
 * @param {{ timeout?: number, stays?: boolean }} [how] `stays`: the Worker reports that it is ready inside,
 *   and stays there
 */
function section(shared, notes, { timeout = 0, stays = false } = {}) {
    const mutex = shared.mutex(`mutex ${Atomics.load(notes, words.round) % mutexesMax}`);
    if (timeout === 0) mutex.lock();
    else mutex.lock({ timeout });
    inside(mutex, notes, stays);
    mutex.unlock();
}

/** @param {import('tabacus/worker').SharedMutex} mutex @param {Int32Array} notes @param {boolean} stays */
function inside(mutex, notes, stays) {
    if (mutex.ownerDied) {
        Atomics.add(notes, words.told, 1);
        Atomics.store(notes, words.second, Atomics.load(notes, words.first));
        mutex.markConsistent();
    }
    const next = Atomics.load(notes, words.first) + 1;
    if (Atomics.load(notes, words.second) + 1 !== next) Atomics.add(notes, words.faults, 1);
    Atomics.store(notes, words.first, next);
    if (stays) signal(notes, words.ready, 1);
    const rounds = stays ? Infinity : insideRounds;
    for (let i = 0; i < rounds; i++) Atomics.load(notes, words.first);
    Atomics.store(notes, words.second, next);
}

/**
 * @param {import('tabacus/worker').AttachedMemory} shared
 * @param {Int32Array} notes
 * @param {BigInt64Array} own
 * @param {(below: number) => number} random
 */
function tasksOf(shared, notes, own, random) {
    const condition = shared.condition('condition');
    /** @param {'mutexed' | 'striped'} kind */
    const add = (kind) => {
        const intent = sums[`${kind}Intent`];
        const counter = shared.counter(kind, { kind });
        const n = counter.value > 0 ? -amount : amount;
        own[intent] = BigInt(n);
        counter.add(n);
        own[sums[kind]] = /** @type {bigint} */ (own[sums[kind]]) + BigInt(n);
        own[intent] = 0n;
    };
    return [
        () => section(shared, notes),
        () => section(shared, notes),
        () => section(shared, notes, { timeout: 60_000 }),
        () => section(shared, notes, { timeout: 60_000 }),
        () => add('mutexed'),
        () => add('striped'),
        () => shared.mutex(`name ${Atomics.load(notes, words.round) % namesMax} ${random(3)}`),
        () => condition.notifyOne(),
        () => shared.callOnce(`once ${Atomics.load(notes, words.round) % mutexesMax}`, () => {}),
        () => {
            const mutex = shared.mutex('of the condition');
            mutex.lock();
            if (mutex.ownerDied) mutex.markConsistent();
            condition.wait(mutex, { timeout: 1 });
            if (mutex.ownerDied) mutex.markConsistent();
            mutex.unlock();
        },
    ];
}
