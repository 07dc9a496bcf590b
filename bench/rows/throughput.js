/** Three tabs that count as fast as they can. The peer is a transaction for each increment. */

import { call } from '../lib/context.js';

const TABS = 3;
const DURATION_MS = 3000;

/** @typedef {import('../lib/context.js').Tab} Tab */

/**
 * @param {Tab[]} tabs
 * @param {'replicated' | 'transactional'} how
 */
async function race(tabs, how) {
    const counted = await Promise.all(tabs.map((tab) => call(tab, how, DURATION_MS)));
    const attempted = counted.reduce((sum, { attempted: one }) => sum + one, 0);
    const longest_ms = Math.max(...counted.map(({ took_ms }) => took_ms));
    const totals = await Promise.all(tabs.map((tab) => call(tab, `${how}Total`)));
    return { each_s: (attempted * 1000) / longest_ms, attempted, totals };
}

/** @param {import('../lib/context.js').Context} context @returns {Promise<import('../lib/rows.js').Row[]>} */
export async function throughput({ openTab }) {
    /** @type {Tab[]} */
    const tabs = [];
    for (let i = 0; i < TABS; i++) tabs.push(await openTab('throughput.html'));
    for (const tab of tabs) await call(tab, 'start');
    const peer = await race(tabs, 'transactional');
    const ours = await race(tabs, 'replicated');
    await Promise.all(tabs.map((tab) => tab.close()));
    const wrong = [ours, peer].flatMap(({ attempted, totals }) =>
        totals.every((total) => total === attempted)
            ? []
            : [`${attempted} attempted, the tabs read ${totals}`],
    );
    return [
        {
            name: `${TABS} tabs, ${DURATION_MS / 1000} s, flushed`,
            unit: 'a second',
            peer: 'a transaction per increment',
            samples: { ours: [ours.each_s], peer: [peer.each_s] },
            target: { least: 200 },
            ...(wrong.length > 0
                ? { broken: wrong.join('; ') }
                : { note: `nothing lost of ${ours.attempted.toLocaleString('en')} increments` }),
        },
    ];
}
