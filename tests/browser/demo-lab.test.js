/** The matrix of the laboratory: a strategy that breaks without a fault is broken with every fault. */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { click, enabled } from './harness/dom.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { useDemo } from './harness/fixture.js';
import { until } from './harness/waiting.js';

describeIn([ENGINES.chromium], 'The matrix of the laboratory', (engine) => {
    const demo = useDemo(engine);

    it('a strategy that breaks without a fault is broken in every cell of its row', async () => {
        const tab = await demo.openTab('lab.html');
        await until(() => enabled(tab, '#explore'), 'the page');
        await click(tab, '#matrix-start');
        await until(() => enabled(tab, '#matrix-start'), 'the end of the matrix', 240_000);
        const rows = await tab.evaluate(() =>
            [...document.querySelectorAll('#matrix-body tr')].map((row) => {
                const [model, ...verdicts] = [...row.querySelectorAll('td')].map(
                    ({ textContent }) => textContent,
                );
                return { row: `${row.querySelector('th')?.textContent}, ${model}`, verdicts };
            }),
        );
        const broken = rows.filter(({ verdicts: [faultless] }) => faultless === 'broken');
        assert.ok(broken.length > 0);
        // The column of `orphaned-lock` is explored for `replicated` alone.
        for (const { row, verdicts } of broken)
            assert.ok(
                verdicts.every((one) => one === 'broken' || one === '–') &&
                    verdicts.filter((one) => one === '–').length <= 1,
                `${row}: ${verdicts}`,
            );
    });
});
