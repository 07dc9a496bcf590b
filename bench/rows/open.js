/** The time from open() to the first add. The peer is the sum of the platform's steps that it needs at least. */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { call, DIST } from '../lib/context.js';

const WARMUPS = 2;
const PAGES = 17;

/** @typedef {import('../lib/context.js').Context} Context */

/**
 * @param {Context} context
 * @param {string} name
 * @param {unknown[]} args
 */
async function inFreshTab({ openTab }, name, ...args) {
    const tab = await openTab('open.html');
    const result = await call(tab, name, ...args);
    await tab.close();
    return result;
}

/** @param {Context} context @returns {Promise<import('../lib/rows.js').Row[]>} */
export async function open(context) {
    const module = new WebAssembly.Module(readFileSync(join(DIST, 'web', 'counters.wasm')));
    const imports = WebAssembly.Module.imports(module);
    /** @type {{ ours: number[], peer: number[] }} */
    const samples = { ours: [], peer: [] };
    for (let page = -WARMUPS; page < PAGES; page++) {
        const ours = await inFreshTab(context, 'ours');
        const bare = await inFreshTab(context, 'bare', imports);
        if (page < 0) continue;
        samples.ours.push(ours);
        samples.peer.push(bare.wasm + bare.database + bare.lock);
    }
    return [
        {
            name: 'open() to first add',
            unit: 'ms',
            peer: 'bare wasm + database + lock',
            samples,
            target: { most: 1.5 },
        },
    ];
}
