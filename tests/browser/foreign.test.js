/** Other scripts of the origin write what they like, however long: a tab of ours goes on counting. */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { call } from './harness/commands.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { closeAll, useBrowser } from './harness/fixture.js';
import { until } from './harness/waiting.js';

/** Megabytes under a key of the application's own, and on a channel of ours. In a page. @param {string} channel */
async function write(channel) {
    for (let i = 0; i < 6; i++) {
        localStorage.setItem('document', `${i}${'漢'.repeat(2e6)}`);
        await new Promise((resolve) => setTimeout(resolve));
    }
    localStorage.removeItem('document');
    new BroadcastChannel(channel).postMessage('x'.repeat(12e6));
}

describeIn(Object.values(ENGINES), 'Long values and messages of other scripts', (engine) => {
    const browser = useBrowser(engine);

    it('stop no tab: what it adds afterwards is counted and is seen in another', async () => {
        const namespace = browser.namespace();
        const [counting, other] = [await browser.openIn({ namespace }), await browser.openIn({ namespace })];
        const naive = /** @type {const} */ ({ strategy: 'naive' });
        for (const options of [{}, naive]) await call(counting, 'add', 'c', 1, options);
        await call(other, 'value', 'c');
        await other.evaluate(write, `tabacus/${namespace}/news`);
        for (const options of [{}, naive]) assert.equal(await call(counting, 'add', 'c', 2, options), 3);
        await call(counting, 'flush', 'c');
        assert.equal(await call(counting, 'read', 'c'), 3);
        await until(async () => (await call(other, 'value', 'c')) === 3, 'the news');
        await closeAll([counting, other]);
    });
});
