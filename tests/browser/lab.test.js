/** The page of the laboratory explores in a Worker, shows the run that breaks a strategy, and can be cancelled. */

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { before, it } from 'node:test';

import { ChromiumTab } from './harness/chromium.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { useDemo } from './harness/fixture.js';
import { until } from './harness/waiting.js';

const SCREENSHOTS = new URL('../../build/screenshots/', import.meta.url);

describeIn([ENGINES.chromium], "The laboratory's page", (engine) => {
    const demo = useDemo(engine);
    /** @type {import('./harness/tab.js').Tab} */
    let tab;
    /** @type {string[]} */
    let lines = [];
    before(async () => {
        tab = await demo.openTab('lab.html');
        if (tab instanceof ChromiumTab) lines = await tab.console();
        await until(() => enabled('#explore'), 'the button');
    });

    /** @param {string} selector */
    const text = (selector) => tab.evaluate((at) => document.querySelector(at)?.textContent ?? '', selector);
    /** @param {string} selector */
    const enabled = (selector) =>
        tab.evaluate((at) => document.querySelector(at)?.matches(':enabled') ?? false, selector);
    /** @param {string} selector */
    const click = (selector) =>
        tab.evaluate(
            (at) => /** @type {HTMLElement | null} */ (document.querySelector(at))?.click(),
            selector,
        );
    /** @param {string} key */
    const press = (key) =>
        tab.evaluate((name) => {
            const event = new KeyboardEvent('keydown', { key: name, bubbles: true, cancelable: true });
            document.querySelector('#timeline')?.dispatchEvent(event);
        }, key);
    /** @param {string} strategy @param {string[]} faults */
    async function explore(strategy, faults = []) {
        await tab.evaluate(
            ({ name, boxes }) => {
                /** @type {any} */ (document.querySelector('#strategy')).value = name;
                for (const box of document.querySelectorAll('#faults input')) {
                    /** @type {any} */ (box).checked = boxes.includes(/** @type {any} */ (box).value);
                }
            },
            { name: strategy, boxes: faults },
        );
        await click('#explore');
    }

    it('the page breaks a lock around localStorage, and steps through the run by keyboard', async () => {
        await explore('locked', ['kill']);
        await until(async () => (await text('#lab-verdict')).startsWith('Broken'), 'a verdict');
        assert.match(await text('#seed'), /^tabacus-1-/);
        assert.match(await text('#timeline-step'), /^Step 1 of \d+/);
        await press('ArrowDown');
        assert.match(await text('#timeline-step'), /^Step 2 of/);
        await press('End');
        assert.match(await text('#timeline-step'), /an update is lost/);
        await click('#timeline-back');
        const drawn = await tab.evaluate(async () => {
            const diagram = /** @type {HTMLImageElement} */ (document.querySelector('#diagram'));
            await diagram.decode();
            return diagram.naturalWidth;
        });
        assert.ok(drawn > 0);
        if (tab instanceof ChromiumTab) {
            await mkdir(SCREENSHOTS, { recursive: true });
            await writeFile(new URL('lab.png', SCREENSHOTS), await tab.screenshot());
        }
    });

    it('the page proves the transactional strategy', async () => {
        await explore('transactional');
        await until(
            async () => (await text('#lab-verdict')).startsWith('Proved: every schedule'),
            'a verdict',
        );
    });

    it('an exploration shows its progress, and can be cancelled', async () => {
        await explore('replicated', ['kill', 'freeze']);
        await until(async () => (await text('#lab-verdict')).startsWith('Exploring'), 'progress');
        await click('#cancel');
        assert.equal(await text('#lab-verdict'), 'Cancelled');
        assert.ok(await enabled('#explore'));
    });

    it('the page computes the matrix one cell at a time', async () => {
        await click('#matrix-start');
        const rows = () => tab.evaluate(() => document.querySelectorAll('#matrix-body tr').length);
        await until(async () => (await rows()) >= 2, 'two rows', 240_000);
        await click('#matrix-cancel');
        const cells = await tab.evaluate(
            () => document.querySelectorAll('#matrix-body tr:first-child td').length,
        );
        assert.equal(cells, 17);
    });

    it('the page logs nothing on the console', () => assert.deepEqual(lines, []));
});
