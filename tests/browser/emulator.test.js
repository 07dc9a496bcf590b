/** The emulator on a page makes the same runs as in Node. */

import assert from 'node:assert/strict';
import { it } from 'node:test';
import { explore } from 'tabacus/emulator';

import { inChromium } from '../../bench/lib/context.js';
import { describeIn, ENGINES } from './harness/engines.js';

/** Explores a scenario. Runs in Node and in the page. @param {typeof explore} run */
async function exploreInPage(run = /** @type {any} */ (globalThis).run) {
    /** @type {import('tabacus/emulator').Scenario} */
    const scenario = async ({ window: { navigator, localStorage, BroadcastChannel, setTimeout } }) => {
        new BroadcastChannel('n').postMessage(1);
        await navigator.locks.request('n', () =>
            localStorage.setItem('n', String(Number(localStorage.getItem('n')) + 1)),
        );
        await new Promise((resolve) => setTimeout(resolve, 5));
    };
    /** @type {import('tabacus/emulator').ExploreOptions['invariant']} */
    const invariant = ({ origin }) => origin.openTab().window.localStorage.getItem('n') === '2';
    const sound = await run(scenario, { seeds: 50, storage: 'interleaved', invariant });
    const broken = await run(scenario, { seeds: 50, storage: 'cached', invariant });
    // The page knows the function, and not the line of its file.
    const trace = broken.trace?.replaceAll(/ \([\w.-]+:\d+\)$/gm, '');
    return [sound.verdict, sound.hash, broken.verdict, broken.seed, broken.schedule, trace];
}

describeIn([ENGINES.chromium], 'The emulator on a page', () => {
    it('an exploration on a page has the verdict, hash, seed and trace of the same one in Node', async () => {
        const there = await inChromium(async ({ openTab }) => {
            const tab = await openTab('open.html');
            await tab.evaluate(async () => {
                // @ts-ignore: an address of the page's server
                /** @type {any} */ (globalThis).run = (await import('/dist/web/tabacus-emulator.js')).explore;
            });
            return tab.evaluate(exploreInPage);
        });
        assert.deepEqual(there, await exploreInPage(explore));
    });
});
