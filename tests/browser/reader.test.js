/**
 * The reader over tabs, with a library that fails, goes offline and comes back, and with consumers that are killed.
 * Every page arrives, no page is fetched twice at the same time, and no more are fetched at once than the concurrency
 * of the queue.
 */

import assert from 'node:assert/strict';
import { afterEach, beforeEach, it } from 'node:test';

import { WIDTH } from '../../demo/reader/width.js';
import { BOOKS } from '../../web/reader-books.js';
import { ChromiumTab } from './harness/chromium.js';
import { click, enabled, numbersIn, shoot, text } from './harness/dom.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { useDemo } from './harness/fixture.js';
import { until } from './harness/waiting.js';

/** @typedef {import('./harness/tab.js').Tab} Tab */

const { chromium, firefox, webkit } = ENGINES;

const ARRIVAL_ms = 90_000;

const ALL = BOOKS.map(({ id }) => id);

/** Defines the commands that Tab.pid() needs, which start and end a Worker. Runs in the page. */
function idleWorker() {
    /** @type {Worker | undefined} */
    let worker;
    Object.assign(globalThis, {
        page: {
            startIdleWorker: () => void (worker = new Worker('/isolation-worker.js')),
            stopIdleWorker: () => worker?.terminate(),
        },
    });
}

for (const consumer of /** @type {const} */ (['worker', 'tabs'])) {
    const engines = consumer === 'tabs' ? [chromium] : [chromium, firefox, webkit];
    describeIn(engines, `The reader, downloads by the ${consumer}`, (engine) => {
        const demo = useDemo(engine);
        /** @type {Tab[]} */
        const tabs = [];
        beforeEach(async () => {
            demo.library.set({ latency_ms: 30, bandwidth: 0, failures: 0, offline: false });
            while (tabs.length < engine.tabs) tabs.push(await openReader());
            await click(first(), '#forget');
            await until(async () => (await downloaded(first(), ALL)) === 0, 'an empty shelf');
            await until(() => demo.library.log.inFlight === 0, 'the end of all requests');
            demo.library.reset();
        });
        afterEach(async () => {
            for (const tab of tabs) assert.equal(await text(tab, '#failure'), '');
        });
        const first = () => tabs[0] ?? assert.fail('no tab');

        async function openReader() {
            const tab = await demo.openTab(`reader/?consumer=${consumer}`);
            await until(() => enabled(tab, '#trigger'), 'the reader');
            if (engine === chromium) {
                await tab.evaluate(idleWorker);
                await tab.pid(); // the tab keeps the answer, so that a later kill is immediate
            }
            return tab;
        }

        /**
         * @param {Tab} tab
         * @param {string[]} books
         * @returns {Promise<number>} the number of their pages that the tab shows
         */
        const downloaded = (tab, books) =>
            tab.evaluate((ids) => {
                const all = ids.map((id) =>
                    document.querySelector(`.book[data-book="${id}"] [data-role="downloaded"]`),
                );
                return all.reduce((sum, data) => sum + Number(data?.getAttribute('value')), 0);
            }, books);

        /** @param {Tab} tab */
        const state = (tab) =>
            tab.evaluate(() => document.querySelector('#stream')?.getAttribute('data-state'));

        /** @param {Tab} tab @param {string} book */
        const read = (tab, book) => click(tab, `.book[data-book="${book}"] button`);

        /** @param {string[]} books */
        const pagesOf = (books) =>
            BOOKS.filter(({ id }) => books.includes(id)).flatMap(({ id, pages }) =>
                Array.from({ length: pages }, (_, index) => `${id}/${index + 1}`),
            );

        /** @param {string[]} books */
        async function arrived(books) {
            const pages = pagesOf(books);
            await until(
                async () => (await downloaded(first(), books)) === pages.length,
                `${pages.length} pages`,
                ARRIVAL_ms,
            );
            return pages;
        }

        async function assertStream() {
            await demo.library.judged();
            const { overlaps, inFlightMost } = demo.library.log;
            assert.equal(overlaps, 0, 'a page was fetched twice at the same time');
            assert.ok(inFlightMost <= WIDTH, `${inFlightMost} at once`);
        }

        it('every page arrives once when all tabs read at once, although the library fails', async (t) => {
            demo.library.set({ failures: 0.2 });
            const books = ['fence', 'freeze', 'lease'].slice(0, tabs.length);
            // All tabs read the same book at once, and then each its own.
            await Promise.all(tabs.map((tab) => read(tab, 'fence')));
            await Promise.all(tabs.map((tab, index) => read(tab, books[index] ?? '')));
            await Promise.all(tabs.map((tab) => click(tab, '#trigger')));
            const pages = await arrived(books);
            await assertStream();
            assert.deepEqual(
                pages.filter((page) => demo.library.delivered(page) !== 1),
                [],
            );
            for (const tab of tabs) {
                await until(
                    async () => (await downloaded(tab, books)) === pages.length,
                    'all pages in each tab',
                );
                await until(async () => (await state(tab)) === 'idle', 'an empty queue in each tab');
                assert.notEqual(
                    await tab.evaluate(() => document.querySelector('#page')?.getAttribute('data-state')),
                    'empty',
                );
            }
            assert.ok(demo.library.log.failed > 0);
            t.diagnostic(`${await text(first(), '#stream-status')} ${JSON.stringify(demo.library.log)}`);
        });

        if (consumer === 'worker') {
            it('the queue pauses while the server is unreachable, and goes on when it is back', async () => {
                await read(first(), 'freeze');
                await until(() => demo.library.log.delivered >= 3, 'the first pages');
                demo.library.set({ offline: true });
                await until(() => demo.library.log.cut > 0, 'a request that is cut off');
                await until(async () => (await state(first())) === 'paused', 'the queue to stop');
                await shoot(first(), 'reader-offline');
                demo.library.set({ offline: false });
                const pages = await arrived(['freeze']);
                await assertStream();
                assert.deepEqual(
                    pages.filter((page) => demo.library.delivered(page) !== 1),
                    [],
                );
            });
        }

        if (consumer === 'worker' && engine === chromium) {
            it('the pages of an opened book come first', async () => {
                demo.library.set({ latency_ms: 60 });
                await click(first(), '#all');
                await until(() => demo.library.log.delivered >= 4, 'the first pages');
                await read(first(), 'crash');
                await until(
                    () => demo.library.delivered('crash/20') === 1,
                    'the last page of the book that is read',
                );
                const others = demo.library.log.delivered - 20;
                assert.ok(others < 40, `${others} pages of other books came first`);
                await assertStream();
            });
        }

        if (consumer === 'tabs') {
            it('without service workers the tabs download, and show the reason', async () => {
                const tab = first();
                assert.ok(tab instanceof ChromiumTab);
                const source =
                    "Object.defineProperty(Navigator.prototype, 'serviceWorker', { value: undefined })";
                await tab.send('Page.addScriptToEvaluateOnNewDocument', { source });
                await tab.navigate(`${demo.url}/reader/`);
                await until(() => enabled(tab, '#trigger'), 'the reader');
                await until(
                    async () => /since no service worker can here/.test(await text(tab, '#stream-status')),
                    'its reason',
                );
                await read(tab, 'freeze');
                await arrived(['freeze']);
                tabs.shift();
                await tab.close();
            });
        }

        /** A tab that downloads, or any tab if the service worker downloads. */
        async function consumingTab() {
            if (consumer === 'worker') return tabs[0];
            for (const tab of tabs) {
                const works = await tab.evaluate(
                    () => document.querySelector('#running [data-here="true"]') !== null,
                );
                if (works) return tab;
            }
        }

        if (engine === chromium) {
            it('another consumer takes over when tabs are killed in the middle of downloads', async (t) => {
                demo.library.set({ latency_ms: 80 });
                await read(first(), 'quorum');
                await until(() => demo.library.log.delivered >= 3, 'the first pages');
                for (let kills = 0; kills < 3; kills++) {
                    const seen = demo.library.log.delivered;
                    tabs.push(await openReader());
                    const victim = await until(consumingTab, 'a tab at work');
                    await until(() => demo.library.log.inFlight > 0, 'a page under way');
                    await victim.kill();
                    tabs.splice(tabs.indexOf(victim), 1);
                    await until(() => demo.library.log.delivered >= seen + 3, 'pages after a kill');
                }
                const pages = await arrived(['quorum']);
                await assertStream();
                assert.deepEqual(
                    pages.filter((page) => demo.library.delivered(page) === 0),
                    [],
                );
                // The pages that a killed consumer has received but not cached are lost, and delivered again.
                assert.ok(demo.library.log.again <= 3 * WIDTH, `${demo.library.log.again} delivered again`);
                t.diagnostic(JSON.stringify(demo.library.log));
                await until(
                    async () =>
                        (await numbersIn(first(), '#server-log'))['delivered'] === demo.library.log.delivered,
                    'the panel',
                );
                await shoot(first(), `reader-${consumer}-light`);
                await shoot(first(), `reader-${consumer}-dark`, { dark: true });
                await shoot(first(), `reader-${consumer}-phone`, { width: 390, height: 844, mobile: true });
            });
        }
    });
}
