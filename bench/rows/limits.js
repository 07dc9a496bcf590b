/**
 * Takes from a budget, compared with an atomic add; and numbers in blocks, compared with a transaction for each one.
 */

import { call } from '../lib/context.js';

const TAKES = 20_000;
const ROUNDS = 15;
const WARMUPS = 3;

/** @param {import('../lib/context.js').Context} context @returns {Promise<import('../lib/rows.js').Row[]>} */
export async function limits({ openTab }) {
    const tab = await openTab('limits.html');
    await tab.send('Emulation.setFocusEmulationEnabled', { enabled: true });
    await call(tab, 'start');
    /** @param {string} name @param {string} ours @param {string} peer @param {[number, number]} times */
    const inTurns = async (name, ours, peer, times) => {
        /** @type {{ ours: number[], peer: number[] }} */
        const samples = { ours: [], peer: [] };
        for (let round = -WARMUPS; round < ROUNDS; round++) {
            const both = [await call(tab, name, ours, times[0]), await call(tab, name, peer, times[1])];
            if (round < 0) continue;
            samples.ours.push(both[0]);
            samples.peer.push(both[1]);
        }
        return samples;
    };
    const rights = await inTurns('measure', 'rights', 'bare', [TAKES, TAKES]);
    const numbers = await inTurns('numbers', 'blocks', 'each', [50_000, 100]);
    await tab.close();
    return [
        {
            name: 'budget.tryTake(1) within rights',
            unit: 'ns',
            peer: 'Atomics.add',
            samples: rights,
            target: { most: 5 },
        },
        {
            name: 'sequence.next() in blocks of 1000',
            unit: '1/s',
            peer: 'a transaction each',
            samples: numbers,
            target: { least: 100 },
        },
    ];
}
