/** A browser shows no outcome that the laboratory's model of localStorage does not allow. */

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
        it(`the browser shows only outcomes of ${program.name} that the model allows`, async (t) => {
            if (tabs.length === 0) tabs = await openTabs(browser.openTab, PROGRAMS);
            const judged = await runProgram(tabs, program, options);
            t.diagnostic(report(judged));
            assert.equal(judged.rounds, ROUNDS);
            assert.ok(isSound(judged), report(judged));
        });
    }
});
