/** How soon another tab sees an increment. The peer is two tabs that only post messages. */

import { call } from '../lib/context.js';

const BLOCKS = 8;
const ROUNDS = 50;

/** @param {import('../lib/context.js').Context} context @returns {Promise<import('../lib/rows.js').Row[]>} */
export async function latency({ openTab }) {
    const [answering, asking] = [await openTab('latency.html'), await openTab('latency.html')];
    // Both tabs count as visible, as in windows side by side: the timers of a hidden tab run once a second.
    for (const tab of [answering, asking]) {
        await tab.send('Emulation.setFocusEmulationEnabled', { enabled: true });
    }
    await call(answering, 'answer');
    await call(asking, 'ask');
    /** @type {{ ours: number[], peer: number[] }} */
    const samples = { ours: [], peer: [] };
    for (let block = -1; block < BLOCKS; block++) {
        const peer = await call(asking, 'channelRounds', ROUNDS);
        const ours = await call(asking, 'counterRounds', ROUNDS);
        if (block < 0) continue;
        samples.peer.push(...peer);
        samples.ours.push(...ours);
    }
    await Promise.all([asking.close(), answering.close()]);
    return [
        {
            name: 'another tab sees an increment, and back',
            unit: 'ms',
            peer: 'BroadcastChannel, and back',
            samples,
            target: { most: 1.5 },
        },
    ];
}
