/** A tab goes on counting, no matter what other scripts of the origin write and post, and how long they do. */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { call } from './harness/commands.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { closeAll, useBrowser } from './harness/fixture.js';
import { until } from './harness/waiting.js';

/**
 * Writes megabytes under a key of the application, and posts as much on a channel of tabacus. Runs in a page.
 *
 * @param {string} channel
 */
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

    it('a tab counts on after long values and messages, and another tab sees its increments', async () => {
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
