/**
 * Killed processes in WebKit. Its automation ends when the first process is killed. So the pages read their task from
 * their address, and the test only watches their history. Each round kills processes of pages and then the whole
 * browser, and the next one starts on the same profile.
 */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { describeIn, ENGINES, launchUndrivenWebKit } from './harness/engines.js';
import { assertCounter } from './harness/jepsen-counter.js';
import { countThreads, isAlive, temporaryFolder } from './harness/processes.js';
import { repetitions } from './harness/repetitions.js';
import { serveSite } from './harness/site.js';
import { spread } from './harness/spread.js';
import { delay, until } from './harness/waiting.js';
import { seededRandom } from './page/seeded-random.js';

const SEED = 20_260_103;
const ROUNDS = 4;
const TABS = 3;
const ENDLESS = 1_000_000;

describeIn([ENGINES.webkit], 'Tabs and browsers killed while they count', () => {
    it(`no acknowledged increment is lost and none is counted twice in ${ROUNDS} deaths of a tab and its browser`, async (t) => {
        const random = seededRandom(SEED);
        const site = await serveSite();
        const profile = await temporaryFolder();
        const name = 'mortal';
        const order = { namespace: 'webkit', read: name };
        const events = () => site.history.of(name);
        const reads = () => events().filter(({ type }) => type === 'read-end').length;
        /** @type {Awaited<ReturnType<typeof launchUndrivenWebKit>> | undefined} */
        let browser;
        try {
            for (let round = 1; round <= ROUNDS; round++) {
                const before = events().length;
                const urls = Array.from({ length: TABS }, (_, tab) => {
                    const seed = round * TABS + tab;
                    const options = { durability: 'strict' };
                    const work = { name, options, seed, batches: ENDLESS, adds: 1 + random(30) };
                    return site.pageWith({ ...order, work });
                });
                browser = await launchUndrivenWebKit({ profile: profile.path, urls });
                const { contentPids } = browser;
                await until(() => events().length > before + 30 + random(30), 'work of the pages');
                await delay(random(10));
                const pids = contentPids();
                assert.ok(pids.length >= TABS, `processes: ${pids}`);
                const victim = pids[random(pids.length)] ?? 0;
                process.kill(victim, 'SIGKILL');
                await until(() => !isAlive(victim), 'the end of a page');
                const readsBefore = reads();
                await until(() => reads() > readsBefore + 2, 'reads of the pages that live');
                await browser.kill();
            }
            const readsBefore = reads();
            browser = await launchUndrivenWebKit({
                profile: profile.path,
                urls: [site.pageWith(order)],
            });
            await until(() => reads() > readsBefore, 'a last read');
            const result = assertCounter(events());
            assert.ok(result.acknowledged > 0);
            t.diagnostic(
                `${ROUNDS} rounds, ${result.reads.length} reads, last ${result.reads.at(-1)?.value}: ` +
                    `${result.acknowledged} acknowledged, ${result.attempted} attempted`,
            );
        } finally {
            await browser?.kill();
            await site.close();
            await profile.remove();
        }
    });
});

const BROWSERS = repetitions(1, 5);

/** The holders that are killed in each browser. One more page survives. */
const HOLDERS = 10;

/** The time in which all pages of the test load if they are loaded at once. */
const START_MS = 90_000;

describeIn([ENGINES.webkit], 'Locks of tabs that die', () => {
    it(
        `the lock of ${BROWSERS * HOLDERS} killed holders is granted to the next page`,
        { timeout: 600_000 },
        async (t) => {
            const site = await serveSite();
            const profile = await temporaryFolder();
            const tokens = () =>
                site.history.of('l').flatMap((event) => (event.type === 'granted' ? [event.token] : []));
            const asked = () => site.history.of('l').filter(({ type }) => type === 'asked').length;
            const urls = Array(HOLDERS + 1).fill(site.pageWith({ namespace: 'webkit', hold: 'l' }));
            const times_ms = [];
            try {
                for (let begun = 0; begun < BROWSERS; begun++) {
                    const before = tokens().length;
                    const { contentPids, kill } = await launchUndrivenWebKit({ profile: profile.path, urls });
                    try {
                        const all = (begun + 1) * urls.length;
                        await until(
                            () => asked() === all && tokens().length > before,
                            'a first holder',
                            START_MS,
                        );
                        for (let death = 1; death <= HOLDERS; death++) {
                            // The holder is the page with a Worker: the others have one thread of that name less.
                            const workers = (/** @type {number} */ pid) => countThreads(pid, /Worker/);
                            const [holder = 0] = contentPids().sort((a, b) => workers(b) - workers(a));
                            const before_ms = performance.now();
                            process.kill(holder, 'SIGKILL');
                            await until(() => tokens().length > before + death, 'the next holder');
                            times_ms.push(performance.now() - before_ms);
                        }
                    } finally {
                        await kill();
                    }
                }
                assert.deepEqual(
                    tokens(),
                    [...new Set(tokens())].sort((a, b) => a - b),
                    'tokens rise',
                );
                t.diagnostic(`after a death, in ms: ${spread(times_ms)}`);
            } finally {
                await site.close();
                await profile.remove();
            }
        },
    );
});
