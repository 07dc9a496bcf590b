/**
 * tab.lock(). Acquired by one tab again and again, contended by four tabs, and handed over, it is compared with
 * navigator.locks; as a lease, with browser-tabs-lock; with many waiting requests in one tab, with async-mutex and
 * p-queue.
 */

import { call } from '../lib/context.js';

const DURATION_MS = 300;
const WARMUPS = 1;
const ROUNDS = 8;
const TABS = 4;
const HAND_OVERS = 100;
const LEASES = 3;
const LEASES_MS = 1_000;
const WAITERS = 50_000;
const FEWER_WAITERS = 25_000;
const DEEP_ROUNDS = 3;

/** @typedef {import('../lib/context.js').Tab} Tab */
/** @typedef {{ ours: number[], peer: number[] }} Samples */

const subjects = /** @type {const} */ (['ours', 'peer']);

/**
 * @param {(subject: 'ours' | 'peer') => Promise<number>} measure
 * @param {number} rounds
 * @returns {Promise<Samples>}
 */
async function inTurns(measure, rounds) {
    /** @type {Samples} */
    const samples = { ours: [], peer: [] };
    for (let round = -WARMUPS; round < rounds; round++) {
        for (const subject of subjects) {
            const sample = await measure(subject);
            if (round >= 0) samples[subject].push(sample);
        }
    }
    return samples;
}

/**
 * Measures the time from a release in one tab to the grant in another tab that waits.
 *
 * @param {Tab} from
 * @param {Tab} to
 * @returns {(subject: 'ours' | 'peer') => Promise<number>} milliseconds
 */
const handOver = (from, to) => async (subject) => {
    await call(from, 'hold', subject);
    const granted = call(to, 'hold', subject);
    await call(from, 'awaited', subject);
    const released_ms = await call(from, 'release');
    const took_ms = (await granted) - released_ms;
    await call(to, 'release');
    return took_ms;
};

/** @param {Tab} tab */
async function deepQueues(tab) {
    /** @type {Record<'ours' | 'mutex' | 'queue', number[]>} */
    const samples = { ours: [], mutex: [], queue: [] };
    for (let round = -WARMUPS; round < DEEP_ROUNDS; round++) {
        for (const [subject, figures] of Object.entries(samples)) {
            const each_us = await call(tab, 'deep', subject, WAITERS);
            if (round >= 0) figures.push(each_us);
        }
    }
    return samples;
}

/** @param {import('../lib/context.js').Context} context @returns {Promise<import('../lib/rows.js').Row[]>} */
export async function locks({ openTab }) {
    /** @type {Tab[]} */
    const tabs = [];
    for (let i = 0; i < TABS; i++) tabs.push(await openTab('locks.html'));
    const [first, second] = /** @type {[Tab, Tab]} */ (tabs.slice(0, 2));
    // All tabs count as visible, as in windows side by side: a hidden tab keeps no lock between two uses.
    for (const tab of tabs) {
        await tab.send('Emulation.setFocusEmulationEnabled', { enabled: true });
        await call(tab, 'start');
    }
    const alone = await inTurns((subject) => call(first, 'repeat', subject, DURATION_MS), ROUNDS);
    const contended = await inTurns(async (subject) => {
        const all = await Promise.all(tabs.map((tab) => call(tab, 'repeat', subject, DURATION_MS)));
        return all.reduce((sum, each_s) => sum + each_s, 0);
    }, ROUNDS);
    const handed = await inTurns(handOver(first, second), HAND_OVERS);
    const { ours, mutex, queue } = await deepQueues(first);
    const fewer = [];
    for (let round = 0; round < DEEP_ROUNDS; round++)
        fewer.push(await call(first, 'deep', 'ours', FEWER_WAITERS));
    await Promise.all(tabs.map((tab) => tab.close()));
    const without = await openTab('locks.html');
    await without.send('Emulation.setFocusEmulationEnabled', { enabled: true });
    await call(without, 'startWithout');
    const leases = await inTurns((subject) => call(without, 'repeat', subject, LEASES_MS), LEASES);
    await without.close();
    const depth = `${WAITERS.toLocaleString('en')} waiting`;
    const peer = 'navigator.locks';
    return [
        { name: 'lock, one tab again and again', unit: '1/s', peer, samples: alone, target: { least: 30 } },
        {
            name: `lock, ${TABS} tabs contending`,
            unit: '1/s',
            peer,
            samples: contended,
            target: { least: 0.8 },
        },
        {
            name: 'lock, handed over to a waiting tab',
            unit: 'ms',
            peer,
            samples: handed,
            target: { most: 1.5 },
        },
        {
            name: 'lock without Web Locks',
            unit: '1/s',
            peer: 'browser-tabs-lock',
            samples: leases,
            target: { least: 10 },
        },
        ...Object.entries({ 'async-mutex': mutex, 'p-queue': queue }).map(([name, samples]) => ({
            name: `lock, ${depth} in one tab, each`,
            unit: 'µs',
            peer: name,
            samples: { ours, peer: samples },
            target: { most: 1 },
        })),
        {
            name: `lock, ${depth} in one tab, each`,
            unit: 'µs',
            peer: `${FEWER_WAITERS.toLocaleString('en')} waiting`,
            samples: { ours, peer: fewer },
            target: { most: 1.5 },
        },
    ];
}
