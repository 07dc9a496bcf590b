/** The layout of the demo's pages: on a phone, with large numbers, and without numbers. */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { ChromiumTab } from './harness/chromium.js';
import { click, enabled, text } from './harness/dom.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { useDemo } from './harness/fixture.js';
import { until } from './harness/waiting.js';

const PHONE = { width: 360, height: 740, mobile: true, deviceScaleFactor: 2 };

describeIn([ENGINES.chromium], "The demo's pages", (engine) => {
    const demo = useDemo(engine);

    /** @param {string} page @param {object} screen @param {string} ready the button that is enabled once it has started */
    async function open(page, screen, ready) {
        const tab = await demo.openTab(page);
        assert.ok(tab instanceof ChromiumTab);
        await tab.send('Emulation.setDeviceMetricsOverride', screen);
        await until(() => enabled(tab, ready), `${ready} of /${page}`);
        return tab;
    }

    for (const [page, ready] of /** @type {const} */ ([
        ['', '#start'],
        ['lab.html', '#explore'],
        ['gallery.html', '#explore'],
        ['reader/', '#all'],
    ])) {
        it(`the page /${page} fits the screen of a phone`, async () => {
            const tab = await open(page, PHONE, ready);
            const width = () => tab.evaluate(() => document.documentElement.scrollWidth);
            assert.equal(await width(), PHONE.width);
            const small = await tab.evaluate(() =>
                [...document.querySelectorAll('input, select, button')]
                    .map((element) => ({ element: element.outerHTML, box: element.getBoundingClientRect() }))
                    .filter(({ box }) => box.width > 0 && Math.min(box.width, box.height) < 24)
                    .map(({ element }) => element),
            );
            assert.deepEqual(small, []);
            await tab.close();
        });
    }

    it('a phone shows the whole matrix once there is one', async () => {
        const tab = await open('lab.html', PHONE, '#matrix-start');
        const shown = () =>
            tab.evaluate(() =>
                [...document.querySelectorAll('#matrix-table, #matrix tr > *')].map(
                    (e) => e.getClientRects().length > 0,
                ),
            );
        assert.deepEqual(await shown(), [false]);
        await click(tab, '#matrix-start');
        await until(async () => (await shown()).length > 30, 'two rows');
        await click(tab, '#matrix-cancel');
        assert.ok((await shown()).every(Boolean));
        const lines = await tab.evaluate(() => {
            const tops = [...document.querySelectorAll('#matrix-body tr:first-child > *')].map(
                (cell) => cell.getBoundingClientRect().top,
            );
            return new Set(tops).size;
        });
        assert.equal(lines, 1);
        await tab.close();
    });

    it('a large number is shown completely, and a tab that attempted nothing has no verdict', async () => {
        const tab = await open(
            '',
            { width: 1280, height: 900, mobile: false, deviceScaleFactor: 1 },
            '#start',
        );
        const seen = await tab.evaluate(async () => {
            const { showOutcome } = await import(`${location.origin}/cards.js`);
            const { showNumber } = await import(`${location.origin}/dom.js`);
            const value = /** @type {HTMLDataElement} */ (
                document.querySelector('[data-strategy="replicated"] .value')
            );
            showNumber(value, 1_234_567_890, (/** @type {number} */ number) => number.toLocaleString('en'));
            const large = 987_654_321;
            showOutcome({ strategy: 'replicated', attempted: large, counted: large, lost: 0, rate: large });
            showOutcome({ strategy: 'batched', attempted: 4, counted: 4, lost: 0, rate: 4 });
            showOutcome({ strategy: 'naive', attempted: 0, counted: 0, lost: 0, rate: 0 });
            const rows = (/** @type {string} */ strategy) =>
                [...document.querySelectorAll(`[data-strategy="${strategy}"] .figures div`)].map(
                    (row) => row.getBoundingClientRect().top,
                );
            const naive = /** @type {HTMLElement} */ (document.querySelector('[data-strategy="naive"]'));
            return {
                cut: value.scrollWidth - value.clientWidth,
                rows: [rows('replicated'), rows('batched')],
                naive: [
                    naive.dataset['verdict'],
                    naive.querySelector('[data-role="lost-share"]')?.textContent,
                ],
            };
        });
        assert.equal(seen.cut, 0);
        assert.deepEqual(seen.rows[0], seen.rows[1]);
        assert.deepEqual(seen.naive, ['none', '–']);
        await tab.close();
    });

    it('the list of events keeps its role of a list', async () => {
        const tab = await open('', PHONE, '#start');
        const role = await tab.evaluate(() => document.querySelector('#events')?.getAttribute('role'));
        assert.equal(role, null);
        await tab.close();
    });

    it('the code of a recipe begins at the margin', async () => {
        const tab = await open('gallery.html', PHONE, '#explore');
        const lines = (await text(tab, '#source')).split('\n');
        assert.equal(lines.at(-1), '}');
        assert.match(lines[1] ?? '', /^ {4}\S/);
        await tab.close();
    });
});
