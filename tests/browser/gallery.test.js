/** The page of the gallery finds the run that breaks a recipe, steps through it, and reports if it has found none. */

import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { before, it } from 'node:test';

import { ChromiumTab } from './harness/chromium.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { useDemo } from './harness/fixture.js';
import { until } from './harness/waiting.js';

const SCREENSHOTS = new URL('../../build/screenshots/', import.meta.url);

describeIn([ENGINES.chromium], "The gallery's page", (engine) => {
    const demo = useDemo(engine);
    /** @type {import('./harness/tab.js').Tab} */
    let tab;
    /** @type {string[]} */
    let logged = [];
    before(async () => {
        tab = await demo.openTab('gallery.html');
        if (tab instanceof ChromiumTab) logged = await tab.console();
        await until(
            () => tab.evaluate(() => document.querySelector('#explore')?.matches(':enabled') ?? false),
            'the button',
        );
    });

    /** @param {string} selector */
    const text = (selector) => tab.evaluate((at) => document.querySelector(at)?.textContent ?? '', selector);
    /** @param {string} selector */
    const click = (selector) =>
        tab.evaluate(
            (at) => /** @type {HTMLElement | null} */ (document.querySelector(at))?.click(),
            selector,
        );

    /** @param {number} recipe @param {string} storage @returns {Promise<string>} the verdict */
    async function explore(recipe, storage) {
        await tab.evaluate(
            ({ index, model }) => {
                /** @type {any} */ (document.querySelector('#recipe')).selectedIndex = index;
                /** @type {any} */ (document.querySelector('#storage')).value = model;
            },
            { index: recipe, model: storage },
        );
        await click('#explore');
        await until(async () => /^(Broken|Nothing found)/.test(await text('#verdict')), 'a verdict');
        return text('#verdict');
    }

    it('the page steps through the run that breaks a Web Lock around localStorage, and shows its diagram', async () => {
        assert.equal(await explore(0, 'cached'), 'Broken, seed 1: an update is lost');
        assert.match(
            await text('#timeline-step'),
            /^Step 1 of \d+: 1 +tab 1 +asks for the lock n, exclusive \(gallery-recipes\.js:\d+\)$/,
        );
        await click('#timeline-on');
        assert.match(await text('#timeline-step'), /^Step 2 of \d+: 1 +tab 1 +is granted the lock n$/);
        await click('#timeline-last');
        assert.match(await text('#timeline-step'), /: an update is lost$/);
        await click('#timeline-back');
        const drawn = await tab.evaluate(async () => {
            const picture = /** @type {HTMLImageElement} */ (document.querySelector('#diagram'));
            await picture.decode();
            return picture.naturalWidth;
        });
        assert.ok(drawn > 0);
        if (tab instanceof ChromiumTab) {
            await mkdir(SCREENSHOTS, { recursive: true });
            await writeFile(new URL('gallery.png', SCREENSHOTS), await tab.screenshot());
        }
    });

    it('the page finds a run in which two tabs run the job', async () => {
        assert.equal(await explore(1, 'cached'), 'Broken, seed 5: two tabs run the job');
    });

    it('the page reports that no failing run was found', async () => {
        assert.match(await explore(2, 'cached'), /^Nothing found in 40 seeds/);
        assert.equal(await tab.evaluate(() => document.querySelector('#found')?.matches('[hidden]')), true);
    });

    it('the page logs nothing on the console', () => assert.deepEqual(logged, []));
});
