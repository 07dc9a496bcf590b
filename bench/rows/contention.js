/**
 * Locks and counters of C++ threads in one WebAssembly module. The peers are those of the C++ standard library and of
 * POSIX as Emscripten has them, naive locks over a futex, and one atomic. All subjects take turns, and the note of a
 * row has the least and the greatest ratio of one turn.
 */

import { call } from '../lib/context.js';

const DURATION_MS = 120;
const WARMUPS = 2;
const ROUNDS = 9;

/** @typedef {{ name: string, ours: string, peer: string, threads: number, least: number }} Pair */

/** @type {Pair[]} */
const PAIRS = [
    { name: 'Mutex, uncontended', ours: 'mutex', peer: 'std::mutex', threads: 1, least: 1 },
    ...[2, 4].flatMap((threads) => [
        { name: `Mutex, ${threads} threads`, ours: 'mutex', peer: 'std::mutex', threads, least: 2 },
        { name: `Mutex, ${threads} threads`, ours: 'mutex', peer: 'naive futex', threads, least: 3 },
    ]),
    ...[1, 2, 4].flatMap((threads) =>
        ['pthread_rwlock', 'naive rwlock'].map((peer) => ({
            name: `RwLock, 15 of 16 read, ${threadCount(threads)}`,
            ours: 'rwLock',
            peer,
            threads,
            least: 1,
        })),
    ),
    ...[1, 2, 4].map((threads) => ({
        name: `Semaphore, 1 permit, ${threadCount(threads)}`,
        ours: 'semaphore',
        peer: 'sem_t',
        threads,
        least: 1,
    })),
    {
        name: 'Condition, 2 threads in turns',
        ours: 'condition',
        peer: 'std::condition_variable',
        threads: 2,
        least: 1,
    },
    { name: 'striped, 2 threads', ours: 'striped', peer: 'atomic', threads: 2, least: 1.4 },
];

/** @param {number} threads */
function threadCount(threads) {
    return threads === 1 ? '1 thread' : `${threads} threads`;
}

/** @param {Pair} pair */
const subjectsOf = ({ ours, peer, threads }) => [ours, peer].map((name) => ({ name, threads }));

/** @param {{ name: string, threads: number }} subject */
const key = ({ name, threads }) => `${name}, ${threads}`;

/** @param {string} peer @param {{ ours: number[], peer: number[] }} samples */
function spread(peer, samples) {
    const ratios = samples.ours.map((each_s, i) => each_s / (samples.peer[i] ?? NaN));
    const [least, most] = [Math.min(...ratios), Math.max(...ratios)].map((ratio) => ratio.toPrecision(3));
    return `${least} to ${most} × ${peer} in one turn`;
}

/** @param {import('../lib/context.js').Context} context @returns {Promise<import('../lib/rows.js').Row[]>} */
export async function contention({ openTab }) {
    const tab = await openTab('contention.html');
    await call(tab, 'start');
    const subjects = new Map(PAIRS.flatMap(subjectsOf).map((subject) => [key(subject), subject]));
    /** @type {Map<string, number[]>} */
    const samples = new Map([...subjects.keys()].map((name) => [name, []]));
    for (let round = -WARMUPS; round < ROUNDS; round++) {
        for (const [at, { name, threads }] of subjects) {
            const each_s = await call(tab, 'run', name, threads, DURATION_MS);
            if (round >= 0) samples.get(at)?.push(each_s / 1e6);
        }
    }
    await tab.close();
    return PAIRS.map(({ name, ours, peer, threads, least }) => {
        const pair = {
            ours: samples.get(key({ name: ours, threads })) ?? [],
            peer: samples.get(key({ name: peer, threads })) ?? [],
        };
        return { name, unit: 'M/s', peer, samples: pair, target: { least }, note: spread(peer, pair) };
    });
}
