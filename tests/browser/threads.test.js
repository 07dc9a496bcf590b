/** Shared memory in every engine: the program of the Atomics article, C++ threads, Workers of the user. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, it } from 'node:test';

import { call, callThreads } from './harness/commands.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { useBrowser } from './harness/fixture.js';
import { DIST } from './harness/site.js';

/** On two busy cores the workers may run one after the other in many tries. */
const TRIES_MAX = 300;

const engines = Object.values(ENGINES);

describeIn(engines, 'Threads in an isolated page', (engine) => {
    const browser = useBrowser(engine, { page: 'threads.html' });
    /** @type {import('./harness/tab.js').Tab} */
    let tab;
    before(async () => {
        tab = await browser.openTab();
        await callThreads(tab, 'start');
    });

    for (const kind of /** @type {const} */ (['atomic', 'mutexed', 'striped'])) {
        it(`four workers count a counter of the kind ${kind} 100,000 up and down exactly`, async () => {
            assert.deepEqual(await callThreads(tab, 'article', kind), { up: 400_000, down: 0 });
        });
    }
    it('an unsynchronised counter loses updates', async (t) => {
        const lost = await callThreads(tab, 'articleLoses', TRIES_MAX);
        assert.ok(lost, `the counter lost nothing in ${TRIES_MAX} tries`);
        t.diagnostic(`${engine.name}: ${JSON.stringify(lost)}`);
    });
    it('C++ threads and attached Workers count on one counter', async () => {
        assert.equal(await callThreads(tab, 'everybody', 20_000), 6 * 20_000);
    });
    it('the page waits for a mutex in one queue with the Workers, without blocking', async () => {
        assert.equal(await callThreads(tab, 'lockAsync', 300), 5 * 300);
    });
    it('a blocking lock on the page is a TabacusError', async () => {
        await assert.rejects(callThreads(tab, 'blockingLock'), { code: 'would-block' });
    });
    it("a Worker attaches without Emscripten's runtime", async () => {
        assert.equal(await callThreads(tab, 'attachWorker'), 1);
        const loaded = importsOf('tabacus-worker.js');
        assert.deepEqual(loaded.sort(), ['tabacus-worker.js', 'threads-segments.js', 'threads-tab-locks.js']);
    });
});

describeIn(engines, 'A page that shares a counter', (engine) => {
    const browser = useBrowser(engine, { page: 'threads.html' });

    it('a page loads attach.wasm alone, and threads.wasm when C++ threads count, which is exact', async () => {
        const counted = await callThreads(await browser.openTab(), 'countAndHammer');
        assert.deepEqual(counted, { value: 2001, alone: ['attach.wasm'], later: ['threads.wasm'] });
    });
});

/**
 * A module of the package and all modules that it imports, statically or not.
 *
 * @param {string} file
 * @returns {string[]}
 */
function importsOf(file) {
    const seen = new Set([file]);
    for (const one of seen) {
        const source = readFileSync(join(DIST, 'web', one), 'utf8');
        for (const [, name = ''] of source.matchAll(/["']\.\/([\w-]+\.js)["']/g)) seen.add(name);
    }
    return [...seen];
}

/** The number of memories, which exceeds the addresses that Chromium has at a time. */
const MEMORIES = 150;

describeIn([ENGINES.chromium], 'The memory of a tab, and the memory that threads share', (engine) => {
    const browser = useBrowser(engine, { page: 'threads.html' });

    it(`close() frees the memory of a tab, ${MEMORIES} times`, async () => {
        await callThreads(await browser.openTab(), 'openAndClose', MEMORIES);
    });
    it(`close() frees the memory of threads(), whatever listened and waited, ${MEMORIES} times`, async () => {
        await callThreads(await browser.openTab(), 'makeAndClose', MEMORIES);
    });
});

describeIn(engines, 'A page without isolation', (engine) => {
    const plain = useBrowser(engine, { isolated: false });

    it('threads() is a TabacusError', async () => {
        const tab = await plain.openTab('threads.html');
        await assert.rejects(callThreads(tab, 'threads'), { code: 'unavailable' });
    });
    it('open() works and counts', async () => {
        const namespace = plain.namespace();
        const tab = await plain.openTab();
        await call(tab, 'open', { namespace });
        await call(tab, 'add', 'plain', 7);
        await call(tab, 'flush', 'plain');
        assert.equal(await call(await plain.openIn({ namespace }), 'read', 'plain'), 7);
    });
});
