/** The comparison on the demo's page shows that a session without locks logs everybody out. */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { choose, click, enabled, text } from './harness/dom.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { useDemo } from './harness/fixture.js';
import { until } from './harness/waiting.js';

const EXPIRIES_max = 6;

describeIn([ENGINES.chromium], 'A session without locks', (engine) => {
    const demo = useDemo(engine);

    it('a session without locks is lost after some expiries', async () => {
        const [tab, other] = [await demo.openTab(), await demo.openTab()];
        for (const each of [tab, other]) await until(() => enabled(each, '#session-start'), 'the button');
        await until(async () => (await text(tab, '#session-start')) === 'Expire it in 2 tabs', 'two tabs');
        await choose(tab, '#session-kind', 'naive');
        const verdicts = [];
        while (verdicts.length < EXPIRIES_max && !verdicts.at(-1)?.includes('found nobody logged in')) {
            await click(tab, '#session-start');
            await until(
                async () => (await text(tab, '#session-verdict')).includes('40 requests'),
                'the verdict',
            );
            verdicts.push(await text(tab, '#session-verdict'));
        }
        assert.match(verdicts.at(-1) ?? '', /found nobody logged in/, verdicts.join('\n'));
    });
});
