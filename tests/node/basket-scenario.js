/** Scenarios whose traces name lines of this file. `node basket-scenario.js` prints the traces. */

import { fileURLToPath } from 'node:url';
import { explore } from 'tabacus/emulator';

/** @typedef {import('tabacus/emulator').Scenario} Scenario */

/** Uses each part of the platform on a line of its own. @type {Scenario} */
export const platform = async ({ window }) => {
    const { localStorage, navigator, BroadcastChannel, AbortSignal } = window;
    localStorage.setItem('a', '1'); // line 11
    localStorage.getItem('a');
    localStorage.b = '2';
    delete localStorage.b;
    localStorage.clear();
    new BroadcastChannel('c').postMessage('m');
    window.setInterval(() => {}, 70); // line 17
    AbortSignal.timeout(80);
    const controller = new window.AbortController();
    const held = navigator.locks.request('l', { mode: 'shared' }, async () => {
        const { signal } = controller;
        const waits = navigator.locks.request('l', { signal }, () => {}).catch(() => {}); // line 22
        await navigator.locks.request('l', { ifAvailable: true }, () => {});
        controller.abort(); // line 24
        await waits;
        await navigator.locks.request('l', { steal: true }, () => {});
    });
    await held.catch(() => {});
    await new Promise((resolve) => window.setTimeout(resolve, 90));
    window.reportError(new TypeError('at the end'));
};

/** Runs texts in the tab, which have lines of their own. @type {Scenario} */
export const texts = async (tab) => {
    await tab.run("\nvar x = 1;\nlocalStorage.setItem('script', x);");
    await tab.run("localStorage.setItem('named', 1);\n//# sourceURL=https://shop.example/basket.js?v=2\n");
    await tab.run("export const y = 1;\n\nlocalStorage.setItem('module', y);");
    await tab.run(function add() {
        localStorage.setItem('function', '1');
    });
    await tab.run(() => {
        localStorage.setItem('arrow', '1');
    });
    await tab.run("setTimeout('\\nlocalStorage.inner = 1')");
    await new Promise((resolve) => tab.window.setTimeout(resolve, 5));
    throw new RangeError('at the end'); // line 46
};

/** @param {Scenario} scenario */
export const tracedRun = (scenario) => explore(scenario, { tabs: 1, seeds: 1 });

if (process.argv[1] === fileURLToPath(import.meta.url)) {
    for (const scenario of [platform, texts]) {
        const { trace, story, svg } = await tracedRun(scenario);
        console.log(trace, story, svg);
    }
}
