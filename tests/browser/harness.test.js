/** Tests of the harness. If it were wrong, every other browser test would prove nothing. */

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';

import { describeIn, ENGINES } from './harness/engines.js';
import { isAlive } from './harness/processes.js';
import { serveSite } from './harness/site.js';

describeIn(Object.values(ENGINES), 'A driven browser', (engine) => {
    /** @type {Awaited<ReturnType<typeof serveSite>>} */
    let site;
    /** @type {import('./harness/engines.js').Browser} */
    let browser;
    /** @type {import('./harness/tab.js').Tab[]} */
    const tabs = [];

    before(async () => {
        site = await serveSite();
        browser = await engine.launch();
        for (let i = 0; i < engine.tabs; i++) tabs.push(await browser.openTab(site.page));
    });
    after(async () => {
        await browser?.close();
        await site.close();
    });

    it('a page is cross-origin isolated', async () => {
        for (const tab of tabs) {
            assert.equal(await tab.evaluate(() => crossOriginIsolated), true);
            assert.equal(await tab.evaluate((a, b) => Promise.resolve(a + b), 2, 3), 5);
        }
    });

    it('an error of a page arrives in the test with its code', async () => {
        const failing = tabs[0]?.evaluate(() => {
            throw Object.assign(new TypeError('no'), { code: 'x' });
        });
        await assert.rejects(failing ?? Promise.resolve(), { remoteName: 'TypeError', code: 'x' });
    });

    it('each tab has a process of its own', async () => {
        const pids = await Promise.all(tabs.map((tab) => tab.evaluate(() => 0))).then(async () => {
            const found = [];
            for (const tab of tabs) found.push(await tab.pid());
            return found;
        });
        assert.equal(new Set(pids).size, tabs.length, `processes: ${pids}`);
    });

    // The automation of WebKit ends with a killed tab, so death-webkit.test.js tests those.
    if (engine === ENGINES.webkit) return;
    it('killing one tab leaves the others alive', async () => {
        const [victim, other] = tabs;
        assert.ok(victim && other);
        const unfinished = assert.rejects(victim.evaluate(() => new Promise(() => {})));
        const pid = await victim.pid();
        await victim.kill();
        assert.equal(isAlive(pid), false);
        await unfinished;
        assert.equal(await other.evaluate(() => 'here'), 'here');
        const late = await browser.openTab(site.page);
        assert.equal(await late.evaluate(() => 'late'), 'late');
        await late.close();
    });
});
