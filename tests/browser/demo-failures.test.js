/** Each page of the demo reports a file that cannot be loaded, and waits for nothing. */

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';

import { DEMO_MOUNTS } from '../../web/demo.js';
import { createServer } from '../../web/server.js';
import { click, enabled, text } from './harness/dom.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { until } from './harness/waiting.js';

/** @type {import('../../web/server.js').Handler} */
const gone = async (_, response) => void response.writeHead(404).end();

const { chromium, firefox, webkit } = ENGINES;

describeIn([chromium, firefox, webkit], 'A page with a missing file', (engine) => {
    /** @type {import('./harness/engines.js').Browser} */
    let browser;
    /** @type {import('../../web/server.js').Server[]} */
    const servers = [];
    before(async () => (browser = await engine.launch()));
    after(async () => {
        await browser.close();
        for (const server of servers) await server.close();
    });

    /** @param {string} missing @param {string} [page] */
    async function openWithout(missing, page = '') {
        const server = await createServer({ mounts: DEMO_MOUNTS, handlers: { [missing]: gone } });
        servers.push(server);
        return browser.openTab(`${server.url}/${page}`);
    }

    for (const [missing, page, module] of /** @type {const} */ ([
        ['/main.js', '', 'main.js'],
        ['/dist', '', 'main.js'],
        ['/dist', 'lab.html', 'lab.js'],
        ['/dist', 'gallery.html', 'gallery.js'],
        ['/dist', 'reader/', 'reader/reader.js'],
    ])) {
        it(`the page /${page} reports that ${missing} is missing`, async () => {
            const tab = await openWithout(missing, page);
            await until(() => text(tab, '#failure:not([hidden])'), 'the failure');
            const failure = await text(tab, '#failure');
            assert.match(failure, /^This page failed: http.*, or what it needs, could not be loaded$/);
            assert.ok(failure.includes(`/${module},`), failure);
            const waiting = await tab.evaluate(() =>
                [...document.querySelectorAll('.waiting')].map(
                    (element) => getComputedStyle(element).visibility,
                ),
            );
            assert.ok(waiting.every((visibility) => visibility === 'hidden'));
        });
    }

    it('the page of the laboratory reports that its Worker is missing', async () => {
        const tab = await openWithout('/lab-worker.js', 'lab.html');
        for (const [start, status] of /** @type {const} */ ([
            ['#explore', '#lab-verdict'],
            ['#matrix-start', '#matrix-status'],
        ])) {
            await until(() => enabled(tab, start), start);
            await click(tab, start);
            await until(
                () => text(tab, status).then((shown) => shown === 'The worker could not be loaded'),
                status,
            );
            assert.equal(await enabled(tab, start), true);
        }
        assert.equal(await text(tab, '#failure'), '');
    });
});
