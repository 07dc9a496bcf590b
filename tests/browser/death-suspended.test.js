/**
 * The process of a leader's page is stopped. Neither the page nor the other tabs receive an event about it. Another
 * candidate leads, and the former leader can commit nothing when its process goes on.
 */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { ChromiumTab } from './harness/chromium.js';
import { call } from './harness/commands.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { closeAll, useBrowser } from './harness/fixture.js';
import { repetitions } from './harness/repetitions.js';
import { until } from './harness/waiting.js';

/** @typedef {{ term: import('tabacus').Term | undefined, ended: string }} Candidate */

/** The bound where all candidates count as hidden is 70 s. The rest is for a busy machine. */
const SUCCESSOR_MS = 120_000;

/** Becomes a candidate: `globalThis.candidate`. Runs in a page. @param {string} namespace */
async function stand(namespace) {
    // @ts-ignore: served by the tests' server
    const { open } = await import('/dist/web/tabacus.js');
    const tab = /** @type {import('tabacus').Tab} */ (await open({ namespace }));
    /** @type {Candidate} */
    const candidate = { term: undefined, ended: '' };
    Object.assign(globalThis, { candidate });
    tab.leader('sync')
        .run((term) => {
            candidate.term = term;
            return new Promise(() => {});
        })
        .catch(({ code }) => {
            candidate.ended = code;
        });
}

/** The number of the term, and how it ended. Runs in a page. */
function termOf() {
    /** @type {Candidate} */
    const { term, ended } = /** @type {any} */ (globalThis).candidate;
    return { number: term?.number ?? 0, leads: Boolean(term?.leads), aborted: term?.signal.aborted, ended };
}

/** Commits as the leader, and returns the former value or the code of the error. Runs in a page. @param {string} value */
const commit = (value) =>
    /** @type {import('tabacus').Term} */ (/** @type {any} */ (globalThis).candidate.term)
        .commit('terms', async (tx) => {
            const former = (await tx.get('terms', 'by')) ?? 'nobody';
            tx.put('terms', 'by', value);
            return former;
        })
        .catch(({ code }) => code);

/** A succession takes some ten seconds, so only `npm run proof` has it. The soak of `npm test` suspends tabs, too. */
const engines = [ENGINES.chromium, ENGINES.firefox].slice(0, repetitions(0, 2));

describeIn(engines, 'A leader whose process is stopped', (engine) => {
    const browser = useBrowser(engine);

    it('has a successor, and is fenced when it goes on', { timeout: 240_000 }, async () => {
        const namespace = browser.namespace();
        const tabs = [await browser.openIn({ namespace }), await browser.openIn({ namespace })];
        const [former, next] = /** @type {[ChromiumTab, ChromiumTab]} */ (tabs);
        const [stopped, running] = [await former.pid(), await next.pid()];
        assert.notEqual(stopped, running);
        if (next instanceof ChromiumTab)
            await next.send('Emulation.setFocusEmulationEnabled', { enabled: true });
        await former.evaluate(stand, namespace);
        await until(async () => (await former.evaluate(termOf)).leads, 'the first leader');
        assert.equal(await former.evaluate(commit, 'the former'), 'nobody');
        await call(former, 'add', 'c', 3);
        await call(former, 'flush', 'c');
        await next.evaluate(stand, namespace);
        const { number } = await former.evaluate(termOf);
        process.kill(stopped, 'SIGSTOP');
        try {
            await until(async () => (await next.evaluate(termOf)).leads, 'a successor', SUCCESSOR_MS);
            assert.equal(await next.evaluate(commit, 'the next'), 'the former');
            assert.equal(await call(next, 'read', 'c'), 3);
        } finally {
            process.kill(stopped, 'SIGCONT');
        }
        await until(async () => (await former.evaluate(termOf)).ended, 'the end of the former term');
        const end = await former.evaluate(termOf);
        assert.deepEqual(end, { number, leads: false, aborted: true, ended: 'lock-lost' });
        assert.equal(await former.evaluate(commit, 'too late'), 'lock-lost');
        const term = await next.evaluate(termOf);
        assert.ok(term.leads && term.number > number);
        assert.equal(await next.evaluate(commit, 'the end'), 'the next');
        await closeAll(tabs);
    });
});
