/**
 * Locks and counters of C++ threads in one WebAssembly module. The peers are std::mutex, a naive futex and one
 * atomic.
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
    { name: 'striped, 2 threads', ours: 'striped', peer: 'atomic', threads: 2, least: 1.4 },
];

/** @param {Pair} pair */
const subjectsOf = ({ ours, peer, threads }) => [ours, peer].map((name) => ({ name, threads }));

/** @param {{ name: string, threads: number }} subject */
const key = ({ name, threads }) => `${name}, ${threads}`;

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
    return PAIRS.map(({ name, ours, peer, threads, least }) => ({
        name,
        unit: 'M/s',
        peer,
        samples: {
            ours: samples.get(key({ name: ours, threads })) ?? [],
            peer: samples.get(key({ name: peer, threads })) ?? [],
        },
        target: { least },
    }));
}
