/**
 * The program of a thread that runs seeds of an exploration. Its first message is a `Task`, and each further one a list
 * of seeds, to which it answers with `{ outcomes }`, or with `{ failure }`, a `SentError`, if it cannot run them.
 */

import { withoutLimit } from '../common/listener-limit.web.js';
import { loadFakeIndexedDB } from '../database/indexed-db.js';
import { decide } from '../explore.js';
import { warmUp } from '../host/warm-up.js';
import { loadRules } from '../rules.js';
import { importScenario } from '../scenario-module.js';
import { HostWaits } from '../verdict/host-waits.js';
import { sentError } from './thread-errors.js';
import { onParent, postToParent } from './parent.web.js';

/** @typedef {import('../plan.js').Plan} Plan */
/** @typedef {import('../explore.js').Outcome} Outcome */

/**
 * @typedef {object} Task
 * @property {string} module the address of the scenario's module
 * @property {object} plan the members of the plan that can be cloned
 * @property {number} length the assumed number of steps of a run
 * @property {WebAssembly.Module | undefined} wasm
 */

/** @param {Task} task @returns {Promise<(seed: number) => Promise<Outcome>>} */
async function begun({ module, plan, length, wasm }) {
    const [glue, fakeIndexedDB, exported] = await Promise.all([
        loadRules(wasm),
        loadFakeIndexedDB(),
        importScenario(module),
    ]);
    withoutLimit();
    const given = {
        invariant: () => {},
        ...exported,
        glue,
        fakeIndexedDB,
        signal: undefined,
        hostWaits: new HostWaits(),
    };
    const whole = /** @type {Plan} */ ({ ...plan, ...given });
    await warmUp(whole);
    return (seed) => decide(whole, { seed, length });
}

/**
 * Runs seeds up to the first one that fails.
 *
 * @param {(seed: number) => Promise<Outcome>} run
 * @param {readonly number[]} seeds
 */
async function runAll(run, seeds) {
    const outcomes = [];
    for (const seed of seeds) {
        const outcome = await run(seed);
        outcomes.push(outcome);
        if (outcome.failure) break;
    }
    return outcomes;
}

/** @type {Promise<(seed: number) => Promise<Outcome>> | undefined} */
let running;

onParent(async (/** @type {Task | number[]} */ message) => {
    try {
        running ??= begun(/** @type {Task} */ (message));
        const run = await running;
        if (Array.isArray(message)) postToParent({ outcomes: await runAll(run, message) });
    } catch (error) {
        postToParent({ failure: sentError(error) });
    }
});
