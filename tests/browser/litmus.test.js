/** What the laboratory's model of localStorage allows is all that a browser shows. */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { openTabs, runProgram } from '../litmus/run.js';
import { isSound, report } from '../litmus/outcomes.js';
import { allowedIn, PROGRAMS } from '../litmus/programs.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { useBrowser } from './harness/fixture.js';

const ROUNDS = 80;
const SEED = 1;

describeIn([ENGINES.chromium], 'Litmus programs', (engine) => {
    const browser = useBrowser(engine, { page: 'litmus.html' });
    /** @type {import('./harness/tab.js').Tab[]} */
    let tabs = [];
    const options = { rounds: ROUNDS, seed: SEED, allowed: allowedIn(engine.name) };

    for (const program of PROGRAMS) {
        it(`${program.name}: nothing but what the model allows`, async (t) => {
            if (tabs.length === 0) tabs = await openTabs(browser.openTab, PROGRAMS);
            const judged = await runProgram(tabs, program, options);
            t.diagnostic(report(judged));
            assert.equal(judged.rounds, ROUNDS);
            assert.ok(isSound(judged), report(judged));
        });
    }
});
