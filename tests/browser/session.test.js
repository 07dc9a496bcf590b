/**
 * The session on the demo's page is refreshed once for each expiry, whichever tab requests it and whichever
 * is closed.
 */

import assert from 'node:assert/strict';
import { before, it } from 'node:test';

import { choose, click, enabled, numbersIn, shoot, text } from './harness/dom.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { useDemo } from './harness/fixture.js';
import { until } from './harness/waiting.js';

/** @typedef {import('./harness/tab.js').Tab} Tab */

const { chromium, firefox, webkit } = ENGINES;

describeIn([chromium, firefox, webkit], 'One session over tabs', (engine) => {
    const demo = useDemo(engine);
    /** @type {Tab[]} */
    let tabs = [];
    before(async () => {
        for (let i = 0; i < engine.tabs; i++) tabs.push(await demo.openTab());
        for (const tab of tabs) await sees(tab, tabs.length);
    });
    const first = () => tabs[0] ?? assert.fail('no tab');

    /** @param {Tab} tab @param {number} count */
    const sees = (tab, count) =>
        until(
            async () => (await text(tab, '#session-start')).startsWith(`Expire it in ${count} tab`),
            `${count} tabs`,
        );

    /** Presses the button, and waits for the verdict in all tabs. @param {Tab} tab */
    async function expire(tab) {
        await until(() => enabled(tab, '#session-start'), 'the button');
        await click(tab, '#session-start');
        await until(async () => (await text(tab, '#session-verdict')).includes('request'), 'the verdict');
        return numbersIn(tab, '#session-log');
    }

    it('the session is refreshed once for each expiry, and every request is answered', async () => {
        for (let expiry = 1; expiry <= 3; expiry++) {
            const { expiries, refreshes, retries, revoked } = await expire(
                tabs[expiry % tabs.length] ?? first(),
            );
            assert.deepEqual(
                { expiries, refreshes, retries, revoked },
                { expiries: expiry, refreshes: expiry, retries: 0, revoked: 0 },
            );
        }
        const asked = `${tabs.length * 20} requests from ${tabs.length} tabs`;
        for (const tab of tabs) {
            const verdict = `${asked}: 1 refresh, and nobody was logged out.`;
            await until(async () => (await text(tab, '#session-verdict')) === verdict, verdict);
        }
        await shoot(first(), 'demo-session');
        await shoot(first(), 'demo-session-phone', { width: 390, height: 844, mobile: true, dark: true });
    });

    it('the session goes on after the tabs that refreshed it are closed', async () => {
        const [, ...others] = tabs;
        await first().close();
        tabs = others;
        for (const tab of tabs) await sees(tab, tabs.length);
        const { expiries, refreshes, retries, revoked } = await expire(first());
        assert.deepEqual(
            { expiries, refreshes, retries, revoked },
            { expiries: 4, refreshes: 4, retries: 0, revoked: 0 },
        );
    });

    it('the session is refreshed several times if each request refreshes it by itself', async (t) => {
        await choose(first(), '#session-kind', 'naive');
        const { refreshes, retries } = await expire(first());
        assert.ok((refreshes ?? 0) + (retries ?? 0) > 1);
        t.diagnostic(await text(first(), '#session-verdict'));
        assert.equal(await text(first(), '#failure'), '');
    });
});
