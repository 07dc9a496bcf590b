/** tab.lock() beside bare navigator.locks: alone again and again, contended by four tabs, handed over. */

import { call } from '../lib/context.js';

const DURATION_MS = 300;
const WARMUPS = 1;
const ROUNDS = 8;
const TABS = 4;
const HAND_OVERS = 100;

/** @typedef {import('../lib/context.js').Tab} Tab */
/** @typedef {{ ours: number[], peer: number[] }} Samples */

const subjects = /** @type {const} */ (['ours', 'peer']);

/** @param {(subject: 'ours' | 'peer') => Promise<number>} measure @param {number} rounds @returns {Promise<Samples>} */
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

/** One tab releases what another waits for. @param {Tab} from @param {Tab} to @returns {(subject: 'ours' | 'peer') => Promise<number>} */
const handOver = (from, to) => async (subject) => {
    await call(from, 'hold', subject);
    const granted = call(to, 'hold', subject);
    await call(from, 'awaited', subject);
    const released_ms = await call(from, 'release');
    const took_ms = (await granted) - released_ms;
    await call(to, 'release');
    return took_ms;
};

/** @param {import('../lib/context.js').Context} context @returns {Promise<import('../lib/rows.js').Row[]>} */
export async function locks({ openTab }) {
    /** @type {Tab[]} */
    const tabs = [];
    for (let i = 0; i < TABS; i++) tabs.push(await openTab('locks.html'));
    const [first, second] = /** @type {[Tab, Tab]} */ (tabs.slice(0, 2));
    // As in windows side by side: a hidden page keeps no lock between two uses.
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
    await Promise.all(tabs.map((tab) => tab.close()));
    const peer = 'navigator.locks';
    return [
        { name: 'lock, one tab again and again', unit: '1/s', peer, samples: alone, target: { least: 30 } },
        { name: `lock, ${TABS} tabs contending`, unit: '1/s', peer, samples: contended, target: { least: 0.8 } },
        { name: 'lock, handed over to a waiting tab', unit: 'ms', peer, samples: handed, target: { most: 1.5 } },
    ];
}
