/** The emulator's verdicts on a page: proofs, inconclusive runs, threads, and work of the host on the schedule. */

import assert from 'node:assert/strict';
import { after, before, it } from 'node:test';
import { fileURLToPath } from 'node:url';

import { build } from 'esbuild';

import { createServer } from '../../web/server.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { DIST } from './harness/site.js';

/** @param {string} path */
const here = (path) => fileURLToPath(new URL(path, import.meta.url));

/** Serves the emulator without a policy, since scripts in texts are compiled by `Function()`. */
async function serveEmulator() {
    const peers = here('../../build/peers');
    await build({ entryPoints: ['fake-indexeddb'], bundle: true, format: 'esm', outdir: peers });
    return createServer({
        mounts: {
            '/': here('page'),
            '/dist': DIST,
            '/peers': peers,
            '/scenarios': here('../node/scenarios'),
        },
        csp: null,
    });
}

/** The functions below run in the page, where `emulator` is the package. */
const load = async () => {
    // @ts-ignore: an address of the page's server
    /** @type {any} */ (globalThis).emulator = await import('/dist/web/tabacus-emulator.js');
    // @ts-ignore: an address of the page's server
    /** @type {any} */ (globalThis).fakeIndexedDB = await import('/peers/fake-indexeddb.js');
};

async function prove() {
    const { emulator, fakeIndexedDB } = /** @type {any} */ (globalThis);
    const add = `localStorage.setItem('n', Number(localStorage.getItem('n')) + 1)`;
    const locked = `navigator.locks.request('n', () => { ${add}; })`;
    const addInDatabase = `(async () => {
        const opening = indexedDB.open('d', 1);
        opening.onupgradeneeded = () => opening.result.createObjectStore('s');
        await new Promise((resolve) => { opening.onsuccess = resolve; });
        const transaction = opening.result.transaction('s', 'readwrite');
        const store = transaction.objectStore('s');
        const reading = store.get('n');
        reading.onsuccess = () => {
            store.put((reading.result ?? 0) + 1, 'n');
        };
        await new Promise((resolve) => { transaction.oncomplete = resolve; });
        opening.result.close();
        return reading.result ?? 0;
    })()`;
    const invariant = (/** @type {any} */ { origin }) => origin.openTab().window.localStorage.n === '2';
    const inOrder = (/** @type {any} */ { results }) => Number(results[0]) + Number(results[1]) === 1;
    const options = { storage: 'interleaved', seeds: [], exhaust: 5000, invariant, fakeIndexedDB };
    const inFunction = async (/** @type {any} */ tab) => tab.run(locked);
    /** @type {[unknown, object][]} */
    const explorations = [
        [locked, options],
        [addInDatabase, { ...options, invariant: inOrder }],
        [add, { ...options, storage: 'cached' }],
        [inFunction, { ...options, seeds: 5 }],
    ];
    const reports = [];
    for (const [scenario, given] of explorations) {
        const { verdict, bound, failure } = await emulator.explore(scenario, given);
        reports.push({ verdict, bound, failure });
    }
    return reports;
}

async function failOnce() {
    const { emulator } = /** @type {any} */ (globalThis);
    let failed = false;
    const scenario = (/** @type {unknown} */ _tab, /** @type {{ seed: number }} */ { seed }) => {
        if (failed || seed !== 3) return;
        failed = true;
        throw new Error('once');
    };
    const { verdict, seed, seeds, failure } = await emulator.explore(scenario, { tabs: 1, seeds: 5 });
    return [verdict, seed, seeds, failure];
}

async function shareSeeds() {
    const { emulator } = /** @type {any} */ (globalThis);
    const { explore } = emulator;
    const url = new URL('/scenarios/lost-update.js', location.href);
    const alone = await explore(url, { exhaust: 0, storage: 'interleaved', seeds: 40 });
    const shared = await explore(url, { exhaust: 0, storage: 'interleaved', seeds: 40, workers: 2 });
    const broken = await explore(url, { exhaust: 0, tabs: 3, workers: 2 });
    const failing = URL.createObjectURL(
        new Blob(
            [
                `if (typeof document === 'undefined') throw new Error('not here');
                 export const scenario = () => {};`,
            ],
            { type: 'text/javascript' },
        ),
    );
    const refusal = await explore(new URL(failing), { exhaust: 0, workers: 2 }).catch(
        (/** @type {any} */ error) => [error instanceof emulator.TabacusError, error.code, error.argument],
    );
    return { alone, shared, broken: [broken.verdict, broken.failure], refusal };
}

async function exploreHostWork() {
    const { emulator } = /** @type {any} */ (globalThis);
    const scenario = `(async () => {
        const note = (what) => { localStorage.order = (localStorage.order ?? '') + what; };
        const bytes = new Uint8Array(1000);
        const packed = new Blob(['text'.repeat(1000)]).stream().pipeThrough(new CompressionStream('gzip'));
        await Promise.all([
            crypto.subtle.digest('SHA-256', bytes).then(() => note('d')),
            new Response(packed).arrayBuffer().then(() => note('c')),
            fetch('data:text/plain,hi').then((answer) => answer.text()).then((text) => { if (text === 'hi') note('f'); }),
            navigator.locks.request('l', () => note('l')),
        ]);
    })()`;
    /** @type {string[][]} */
    const orders = [[], []];
    const reports = [];
    for (const seen of orders) {
        const invariant = (/** @type {any} */ { origin }) =>
            void seen.push(origin.openTab().window.localStorage.order);
        reports.push(
            await emulator.explore(scenario, { seeds: 30, exhaust: 0, storage: 'mutexed', invariant }),
        );
    }
    return { reports, orders };
}

describeIn(
    [ENGINES.chromium, ENGINES.firefox, ENGINES.webkit],
    'Verdicts of the emulator on a page',
    (engine) => {
        /** @type {import('../../web/server.js').Server} */
        let server;
        /** @type {import('./harness/engines.js').Browser} */
        let browser;
        /** @type {import('./harness/tab.js').Tab} */
        let tab;
        before(async () => {
            server = await serveEmulator();
            browser = await engine.launch();
            tab = await browser.openTab(`${server.url}/away.html`);
            await tab.evaluate(load);
        });
        after(async () => {
            await browser?.close();
            await server.close();
        });

        it('scripts are proved, with databases, too; broken ones are found; functions are not proved', async () => {
            const [locked, database, lost, inFunction] = await tab.evaluate(prove);
            assert.deepEqual([locked?.verdict, locked?.failure], ['proved', '']);
            assert.match(`${locked?.bound}`, /^every schedule of 2 tabs without faults: \d+ runs; /);
            assert.deepEqual([database?.verdict, database?.failure], ['proved', '']);
            assert.match(`${database?.bound}`, /if a database opens in the step that asks for it$/);
            assert.equal(lost?.verdict, 'broken');
            assert.equal(inFunction?.verdict, 'unbroken within the bound');
            assert.match(`${inFunction?.bound}`, /a browser does not show whether the host works/);
        });

        it('a failure that does not repeat is inconclusive', async () => {
            const [verdict, seed, seeds, failure] = await tab.evaluate(failOnce);
            assert.deepEqual([verdict, seed, seeds], ['inconclusive', 3, 5]);
            assert.match(
                `${failure}`,
                /^inconclusive: a run failed, and did not fail again .*: Error: once$/,
            );
        });

        it('two Workers share the seeds, and their report is that of one thread', async () => {
            const { alone, shared, broken, refusal } = await tab.evaluate(shareSeeds);
            assert.deepEqual([alone.verdict, alone.seeds], ['unbroken within the bound', 40]);
            assert.deepEqual(shared, alone);
            assert.equal(broken[0], 'broken');
            assert.match(`${broken[1]}`, /^the count is \d instead of \d$/);
            assert.deepEqual(refusal, [true, 'invalid-argument', 'scenario']);
        });

        it('cryptography, streams and fetch() are on the schedule: two explorations are equal', async () => {
            const { reports, orders } = await tab.evaluate(exploreHostWork);
            const [first, second] = reports;
            assert.deepEqual(
                [first.verdict, first.failure, first.seeds],
                ['unbroken within the bound', '', 30],
            );
            assert.deepEqual(second, first);
            assert.ok(new Set(orders[0]).size > 1, 'the schedule chooses the order');
            assert.deepEqual(orders[0]?.slice(-30), orders[1]?.slice(-30));
        });
    },
);
