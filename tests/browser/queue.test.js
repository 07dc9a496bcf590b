/**
 * Jobs over tabs that are killed. Every job is done, and the job that its settlement enqueues exists exactly once: it
 * is the fenced effect.
 */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { describeIn, ENGINES } from './harness/engines.js';
import { useBrowser } from './harness/fixture.js';
import { seededRandom } from './page/seeded-random.js';

/** @typedef {import('./harness/tab.js').Tab} Tab */

const SEED = 20_260_105;

/** The number of tabs that work at a time. One more tab enqueues the jobs and is not killed. */
const WORKERS = 2;

/**
 * What each engine does. The automation of WebKit ends with a killed tab, so working tabs are closed there.
 *
 * @type {{ engine: import('./harness/engines.js').Engine, jobs: number, tabsLost: number, end: 'kill' | 'close', turns: number }[]}
 *     `turns`: the most turns that a job takes
 */
const PLANS = [
    { engine: ENGINES.chromium, jobs: 2_000, tabsLost: 50, end: 'kill', turns: 200 },
    { engine: ENGINES.firefox, jobs: 120, tabsLost: 3, end: 'kill', turns: 5_000 },
    { engine: ENGINES.webkit, jobs: 60, tabsLost: 2, end: 'close', turns: 200 },
];

for (const { engine, jobs, tabsLost, end, turns } of PLANS) {
    describeIn([engine], 'Jobs of tabs that die', () => {
        const browser = useBrowser(engine);

        it(
            `each of ${jobs} jobs is done and has its effect once, although ${tabsLost} tabs are lost`,
            { timeout: 300_000 },
            async (t) => {
                const namespace = browser.namespace();
                const random = seededRandom(SEED);

                const openTab = async () => {
                    const tab = await browser.openTab();
                    await tab.evaluate(async (name) => {
                        const { open } = await import(/** @type {any} */ ('/dist/web/tabacus.js'));
                        const page = /** @type {any} */ (globalThis);
                        page.queue = (await open({ namespace: name })).queue('jobs', {
                            concurrency: 2,
                        });
                        page.done = 0;
                        page.results = [];
                        page.whenDone = {};
                        // Timers of a hidden tab run once a second, so a turn is a message.
                        page.turn = () =>
                            new Promise((resolve) => {
                                const { port1, port2 } = new MessageChannel();
                                port1.onmessage = () => resolve(port1.close());
                                port2.postMessage(0);
                            });
                    }, namespace);
                    return tab;
                };
                const openWorker = async () => {
                    const tab = await openTab();
                    if (end === 'kill') await tab.pid();
                    await tab.evaluate((most) => {
                        const page = /** @type {any} */ (globalThis);
                        page.queue.handle(
                            'job',
                            async (/** @type {any} */ { payload, next, lostWorkers }) => {
                                for (let left = Math.random() * most; left > 0; left--) await page.turn();
                                next(payload, { kind: 'effect' });
                                return lostWorkers;
                            },
                        );
                        // The first run of this job ends only when its worker is killed.
                        page.queue.handle('doomed', (/** @type {any} */ { lostWorkers }) => {
                            page.doomed = lostWorkers === 0;
                            return page.doomed ? new Promise(() => {}) : lostWorkers;
                        });
                    }, turns);
                    return tab;
                };
                /** Kills a worker that certainly runs a job. Returns how many workers the job lost. */
                const doom = async () => {
                    await asker.evaluate(async () => {
                        const page = /** @type {any} */ (globalThis);
                        page.doomed = await page.queue.enqueue('doomed', { kind: 'doomed' });
                    });
                    const isDoomed = (/** @type {Tab} */ tab) =>
                        tab.evaluate(() => Boolean(/** @type {any} */ (globalThis).doomed));
                    let victim = -1;
                    while (victim < 0) victim = (await Promise.all(workers.map(isDoomed))).indexOf(true);
                    await workers.splice(victim, 1)[0]?.[end]();
                    return asker.evaluate(() => /** @type {any} */ (globalThis).doomed.result);
                };

                const asker = await openTab();
                /** @type {Tab[]} */
                const workers = [];
                for (let i = 0; i < WORKERS; i++) workers.push(await openWorker());
                const share = jobs / tabsLost;
                for (let round = 0; round < tabsLost; round++) {
                    await asker.evaluate(
                        async (from, count, wait) => {
                            const page = /** @type {any} */ (globalThis);
                            const asked = Array.from({ length: count }, (_, i) =>
                                page.queue.enqueue(from + i, { kind: 'job' }),
                            );
                            for (const { result } of await Promise.all(asked)) {
                                page.results.push(result);
                                void result.then(() => page.whenDone[++page.done]?.());
                            }
                            if (page.done < from + wait)
                                await new Promise((resolve) => (page.whenDone[from + wait] = resolve));
                        },
                        round * share,
                        share,
                        random(share),
                    );
                    const [victim] = workers.splice(random(workers.length), 1);
                    await victim?.[end]();
                    workers.push(await openWorker());
                }
                const [lost, payloads] = await asker.evaluate(async () => {
                    const page = /** @type {any} */ (globalThis);
                    const results = await Promise.all(page.results);
                    const effects = (await page.queue.jobs()).map(
                        (/** @type {any} */ { payload }) => payload,
                    );
                    return [
                        results.filter((/** @type {number} */ workersLost) => workersLost > 0).length,
                        effects,
                    ];
                });
                payloads.sort((/** @type {number} */ a, /** @type {number} */ b) => a - b);
                assert.deepEqual(
                    payloads,
                    Array.from({ length: jobs }, (_, i) => i),
                );
                t.diagnostic(`${lost} jobs outlived a worker`);
                if (end === 'kill') assert.equal(await doom(), 1, 'a worker was killed at work');
            },
        );
    });
}

describeIn(Object.values(ENGINES), 'A payload that this browser may not store', (engine) => {
    const browser = useBrowser(engine);

    for (const kind of [
        'Blob',
        'ImageBitmap',
        'AudioData',
        'Memory',
        'Error of a cause',
        'Error of errors',
    ]) {
        it(`a payload with ${kind} is stored, or is refused without other jobs`, async (t) => {
            const tab = await browser.openTab();
            const answer = await tab.evaluate(
                async (what, name) => {
                    const { open } = await import(/** @type {any} */ ('/dist/web/tabacus.js'));
                    const queue = (await open({ namespace: name })).queue('jobs');
                    const samples = {
                        f32: new Float32Array(1),
                        numberOfFrames: 1,
                        numberOfChannels: 1,
                        sampleRate: 8_000,
                        timestamp: 0,
                    };
                    const module = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
                    const one = {
                        Blob: () => new Blob(['?']),
                        ImageBitmap: () => createImageBitmap(new ImageData(1, 1)),
                        AudioData: () => new AudioData({ ...samples, format: 'f32', data: samples.f32 }),
                        Memory: () => new WebAssembly.Memory({ shared: true, initial: 1, maximum: 1 }),
                        'Error of a cause': () => new Error('?', { cause: module }),
                        'Error of errors': () => new AggregateError([module], '?'),
                    }[what];
                    const payloads = [1, { value: await one?.() }, 3];
                    const outcomes = await Promise.allSettled(
                        payloads.map((payload) => queue.enqueue(payload)),
                    );
                    /** @type {string[]} */
                    const seen = [];
                    await queue.enqueue('last');
                    queue.handle(
                        async (/** @type {any} */ { payload }) =>
                            void seen.push(
                                payload?.value ? Object.prototype.toString.call(payload.value) : payload,
                            ),
                    );
                    await queue.onIdle();
                    return {
                        codes: outcomes.map((outcome) =>
                            outcome.status === 'rejected' ? outcome.reason.code : '',
                        ),
                        seen: seen.map(String).sort(),
                    };
                },
                kind,
                browser.namespace(),
            );
            const [first, code, third] = answer.codes;
            t.diagnostic(code || 'stored');
            assert.deepEqual([first, third], ['', ''], 'no job fails because of another');
            assert.ok(['', 'not-cloneable'].includes(code), code);
            assert.deepEqual(answer.seen, [
                '1',
                '3',
                ...(code ? [] : [`[object ${kind.split(' ')[0]}]`]),
                'last',
            ]);
            await tab.close();
        });
    }
});

describeIn([ENGINES.chromium, ENGINES.firefox], 'Jobs in workers', (engine) => {
    const browser = useBrowser(engine);

    for (const kind of /** @type {const} */ (['dedicated', 'service'])) {
        // Firefox has module service workers from version 151 on, which its ESR is not.
        if (kind === 'service' && engine !== ENGINES.chromium) continue;

        it(`a ${kind} worker runs the jobs that a page enqueues`, async () => {
            const tab = await browser.openTab();
            const results = await tab.evaluate(
                async (namespace, which) => {
                    const url = `/queue-worker.js?namespace=${namespace}`;
                    const { open } = await import(/** @type {any} */ ('/dist/web/tabacus.js'));
                    const queue = (await open({ namespace })).queue('q');
                    const receipts = await Promise.all([1, 2, 3].map((n) => queue.enqueue(n)));
                    if (which === 'dedicated') {
                        new Worker(url, { type: 'module' });
                    } else {
                        const registration = await navigator.serviceWorker.register(url, {
                            type: 'module',
                            scope: '/nowhere/',
                        });
                        const worker = registration.installing ?? registration.waiting ?? registration.active;
                        while (worker?.state !== 'activated')
                            await new Promise((turn) => setTimeout(turn, 5));
                        worker.postMessage('work');
                    }
                    return Promise.all(receipts.map(({ result }) => result));
                },
                browser.namespace(),
                kind,
            );
            assert.deepEqual(results, [2, 3, 4]);
            await tab.close();
        });
    }
});
