/** One add on this thread. The peer is the cheapest possible add, an atomic addition. */

import { call } from '../lib/context.js';

/** @param {import('../lib/context.js').Context} context @returns {Promise<import('../lib/rows.js').Row[]>} */
export async function add({ openTab }) {
    const tab = await openTab('add.html');
    const samples = await call(tab, 'measure', { warmups: 5, rounds: 21, adds: 200_000 });
    await tab.close();
    const beside = { unit: 'ns', peer: 'Atomics.add' };
    return [
        {
            ...beside,
            name: 'add(1), replicated counter',
            samples: { ours: samples.replicated, peer: samples.bare },
            target: { most: 3 },
        },
        {
            ...beside,
            name: 'add(1), shared atomic counter',
            samples: { ours: samples.shared, peer: samples.bare },
            target: { most: 2 },
        },
        {
            ...beside,
            name: 'add(1), counter over threads and tabs',
            samples: { ours: samples.overTabs, peer: samples.bare },
            target: { most: 2 },
        },
    ];
}
