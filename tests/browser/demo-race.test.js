/** A race, as a tab shows it that is opened in the middle of it. */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { click, enabled, text } from './harness/dom.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { useDemo } from './harness/fixture.js';
import { until } from './harness/waiting.js';

/** @typedef {import('./harness/tab.js').Tab} Tab */

describeIn([ENGINES.chromium], 'A tab opened in a race', (engine) => {
    const demo = useDemo(engine);

    /** @param {Tab} tab */
    const state = (tab) => tab.evaluate(() => document.querySelector('#race')?.getAttribute('data-state'));

    it('a late tab shows the race, and can race again after the leader is closed', async () => {
        const [leader, other] = [await demo.openTab(), await demo.openTab()];
        await until(() => enabled(leader, '#start'), 'the button of the race');
        await click(leader, '#start');
        await until(async () => (await state(other)) === 'running', 'the race');
        const late = await demo.openTab();
        await until(
            async () => ['running', 'settling'].includes((await state(late)) ?? ''),
            'the race in the late tab',
        );
        assert.equal(await enabled(late, '#start'), false);
        await leader.close();
        for (const tab of [other, late]) {
            await until(async () => (await state(tab)) === 'done', 'the end of the race');
            assert.equal(
                await text(tab, '#verdict'),
                'The tab that led the race is gone, and the race with it.',
            );
            assert.equal(await enabled(tab, '#start'), true);
        }
    });
});
