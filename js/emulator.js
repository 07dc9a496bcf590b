/**
 * The emulator: an origin with several tabs in one process. Scripts use it through the platform's own API.
 *
 * @example
 * import { createOrigin } from 'tabacus/emulator';
 * const origin = await createOrigin({ url: 'https://shop.example/', storage: 'cached', seed: 7 });
 * const [a, b] = [origin.openTab(), origin.openTab()];
 * await b.run(() => addEventListener('storage', (event) => console.log(event.key, event.newValue)));
 * a.window.localStorage.setItem('basket', '3');
 * await origin.settled();
 */

import { loadRules } from './emulator/rules.js';
import { exhaust, unaskedStepsMax } from './emulator/exhaust.js';
import { warmUp } from './emulator/host/warm-up.js';
import { unlimited, withoutLimit } from './emulator/common/listener-limit.web.js';
import { decide, runOnce } from './emulator/explore.js';
import { progressMeter } from './emulator/progress-line.web.js';
import { importScenario, moduleAddress } from './emulator/scenario-module.js';
import { checkThreads, outcomesOf } from './emulator/seeds/seed-outcomes.js';
import { sameFailure } from './emulator/verdict/failure.js';
import { HostWaits } from './emulator/verdict/host-waits.js';
import { shrink } from './emulator/verdict/shrink.js';
import { loadFakeIndexedDB } from './emulator/database/indexed-db.js';
import { checkOrigin, originOptions, quirks, storages } from './emulator/origin-options.js';
import { Origin as EmulatedOrigin } from './emulator/origin.js';
import { recordFormatMax } from './emulator/record-format.js';
import { invalid } from './common/errors.js';
import { emulatedFaults as faults } from './lab/faults.js';
import { checkInteger, checkOneOf, checkOptions } from './common/check-arguments.js';
import { checkSignal } from './common/check-waits.js';

export { TabacusError } from './common/errors.js';
export { faults, quirks, storages };

/** @typedef {import('./emulator/origin.js').Origin} Origin */
/** @typedef {import('./emulator/emulated-tab.js').Tab} Tab */

/**
 * @typedef {object} CreateOriginOptions
 * @property {string | URL} [url] the address of its tabs; `https://example.test/` by default
 * @property {'cached' | 'interleaved' | 'mutexed'} [storage] `cached` by default
 * @property {number} [seed] an integer from 0 to 2^53 − 1, which decides the order of events. Without a seed, events
 *   happen in the order in which they became possible
 * @property {'virtual' | 'real'} [clock] `virtual` by default: time passes only when no event can happen
 * @property {number} [quota_bytes] the capacity of a storage in bytes of UTF-8, keys and values together; 5 MiB by
 *   default
 * @property {'denied' | 'granted'} [persistence] what `navigator.storage.persist()` answers; `denied` by default
 * @property {readonly (typeof quirks[number])[]} [quirks] none by default
 * @property {import('./core/module.js').WasmSource} [wasm] emulator.wasm, if it is not beside the package's modules
 * @property {object} [fakeIndexedDB] the module `fake-indexeddb`, if `import('fake-indexeddb')` does not find it
 */

/** @type {Promise<import('./emulator/rules.js').EmulatorModule> | undefined} */
let shared;

/**
 * Makes an origin without tabs.
 *
 * @param {CreateOriginOptions} [options]
 * @returns {Promise<Origin>} rejects with `invalid-argument`, or with `unavailable` if emulator.wasm cannot be loaded
 */
export async function createOrigin(options = {}) {
    const { checked, wasm, fakeIndexedDB } = checkOrigin(options);
    const [glue, found] = await load(wasm, fakeIndexedDB);
    return new EmulatedOrigin(glue, checked, found);
}

/** Loads emulator.wasm. If that fails, the next call tries again. */
const loadShared = () =>
    loadRules(undefined).catch((error) => {
        shared = undefined;
        throw error;
    });

/** @param {import('./core/module.js').WasmSource | undefined} wasm @param {unknown} fakeIndexedDB */
function load(wasm, fakeIndexedDB) {
    const glue = wasm === undefined ? (shared ??= loadShared()) : loadRules(wasm);
    return Promise.all([glue, fakeIndexedDB ?? loadFakeIndexedDB()]);
}

/** @typedef {import('./emulator/scenario.js').Scenario} Scenario */
/** @typedef {import('./emulator/scenario.js').InvariantContext} InvariantContext */
/** @typedef {import('./emulator/scenario.js').SetupContext} SetupContext */

/**
 * @typedef {object} ExploreOptions the options of {@link explore}, besides those of {@link createOrigin} without
 *   `seed` and `clock`
 * @property {number | readonly number[]} [seeds] the number of seeds, from 1 on, or a list of seeds; 1,000 by default
 * @property {number} [tabs] 1 to 64; 2 by default
 * @property {readonly number[]} [recordFormats] the formats in which tabacus may write records, each an integer from 1
 *   to 9999. The seed chooses one of them for each tab, and a tab with a format above 1 stands for one of a later version
 *   of tabacus (`openTab({ recordFormat })`); [1] by default
 * @property {readonly (typeof faults[number])[]} [faults] the faults that may happen; none by default
 * @property {number} [faultBudget] how many faults may happen in one run, 0 to 64; 1 by default
 * @property {(context: SetupContext) => unknown} [setup] is called before the scenario in each run, and may open tabs
 *   and fill storages. What it does is over before the scenario begins, and is no choice of the schedule. An exception
 *   is a failure of the run
 * @property {(context: InvariantContext) => unknown} [invariant] is called when no event can happen. False, a
 *   sentence or an exception is a failure
 * @property {number} [steps] the number of steps after which a run counts as endless, 1 to 10^6; 20,000 by default
 * @property {number} [timerWindow] how far timers may overtake messages, grants, storage, tasks and steps of databases
 *   that are under way, in milliseconds of virtual time, 0 to Infinity; 1,000 by default. While one of them is under
 *   way, a timer fires only if it is due at most that much later than the oldest of them began. With 0, time passes
 *   only when nothing else can happen. What waits for a frozen tab does not hold time up
 * @property {number} [exhaust] the largest number of runs for running every schedule before the seeds, 0 (never) to
 *   10^6; by default a twentieth of the number of seeds, and 0 for a list of seeds. Several `recordFormats` allow none
 * @property {AbortSignal} [signal] ends the exploration; the promise is rejected with its reason
 * @property {((seeds: number) => void) | boolean} [progress] is called with the number of seeds after each seed, the
 *   broken one, too, and never if the verdict is `proved`; true shows it on stderr, if that is a terminal
 * @property {number} [workers] the number of threads that share the seeds, 1 to 64. The scenario must be the URL of a
 *   module then, which has `setup` and `invariant`, too. The report is that of one thread
 */

/**
 * @typedef {object} ExploreResult
 * @property {'proved' | 'broken' | 'inconclusive' | 'unbroken within the bound'} verdict `proved`: the scenario holds
 *   under every schedule that `bound` describes; `inconclusive`: no run is broken, but at least one waited in vain for
 *   work of the host that is not on the schedule, or failed and did not fail again when it was repeated
 * @property {string} bound what was run, in words
 * @property {number} seeds how many seeds were run; 0 if running every schedule has decided the verdict
 * @property {number} steps the number of steps of the runs that decide the verdict
 * @property {Record<string, number>} faults how often each fault happened in these runs
 * @property {string} hash a hash of the exploration in hexadecimal, equal for equal explorations
 * @property {string} [waitsFor] what an inconclusive run last waited for
 * @property {number} [seed] the seed of the broken run, or of the first inconclusive one
 * @property {number[]} [schedule] the simplest schedule that breaks the scenario, for {@link replay}; if inconclusive,
 *   that of the run
 * @property {string} [story] of that run in sentences, a line each: which tab did what, what it saw, and what it did
 *   not see yet
 * @property {string} [trace] of that run, with a line for each event, and the line of the source that caused it, such
 *   as `(basket.js:12)`, where it is known
 * @property {string} [svg] the trace as a sequence diagram
 */

/** @param {string} failure */
const failed = (failure) => ({
    /** A sentence on what is wrong, or on why the verdict is `inconclusive`; else empty. */
    failure,
    /** @deprecated Use `failure`, which has the same value. */
    complaint: failure,
});

/** @typedef {ExploreResult & ReturnType<typeof failed>} ExploreReport */

/**
 * Runs a scenario in every tab of an emulated origin, once for each seed, until a run breaks: the scenario throws or
 * never ends, or the invariant does not hold. A run with an odd seed is a random walk over turns, deliveries, grants,
 * timers and faults. A run with an even seed goes by priorities that change at random (PCT).
 *
 * @param {Scenario | string | URL} scenario a function that is called for each tab with the tab; a script that runs in
 *   it; or the URL of a module (a text only with `file:`, `http:` or `https:`) that exports such a `scenario`, or has
 *   it as its default export, and may export `setup` and `invariant`
 * @param {ExploreOptions & Omit<CreateOriginOptions, 'seed' | 'clock'>} [options]
 * @returns {Promise<ExploreReport>}
 * @throws {TabacusError} `invalid-argument`; `unavailable` without emulator.wasm, or where there are no threads for
 *   `workers`
 * @example
 * const report = await explore(async ({ window: { navigator, localStorage } }) => {
 *     await navigator.locks.request('n', () => { localStorage.n = Number(localStorage.n ?? 0) + 1; });
 * }, { tabs: 2, invariant: ({ origin }) => origin.openTab().window.localStorage.n === '2' });
 */
export async function explore(scenario, options = {}) {
    const limited = withoutLimit();
    try {
        const planned = await planOf(scenario, options);
        const meter = progressMeter(planned.progress, planned.seeds.length);
        return await explored({ ...planned, progress: meter.update }).finally(meter.end);
    } finally {
        limited();
    }
}

/** @param {Awaited<ReturnType<typeof planOf>> & { progress: (seeds: number) => void }} planned */
async function explored({ plan, seeds, progress, threads, attempt }) {
    const { schedule } = await decide(plan, { seed: 1, schedule: [] }, true);
    const { decided, bound, undecided: tried } = await exhausted(plan, seeds[0] ?? 1, attempt);
    if (decided) return decided;
    const report = emptyReport(
        `${seeds.length} ${seeds.length === 1 ? 'seed' : 'seeds'}${bound && `; ${bound}`}`,
    );
    const length = Math.max(
        schedule.length,
        (await runOnce({ ...plan, faults: [] }, { seed: 1, schedule: [] })).steps,
        10,
    );
    /** What is added to the report of an exploration without a broken run. */
    let undecided = tried ?? {};
    for await (const { seed, outcome } of outcomesOf(plan, seeds, { length, threads })) {
        ++report.seeds;
        add(report, outcome);
        progress(report.seeds);
        const found = await judged(plan, seed, outcome, 'verdict' in undecided);
        if (found?.verdict === 'broken') return { ...report, ...found };
        undecided = { ...found, ...undecided };
    }
    return { ...report, ...undecided };
}

/**
 * @param {string} bound
 * @returns {ExploreReport}
 */
const emptyReport = (bound) => ({
    verdict: 'unbroken within the bound',
    bound,
    seeds: 0,
    steps: 0,
    faults: {},
    hash: '',
    ...failed(''),
});

/** @param {ExploreReport} report @param {import('./emulator/explore.js').Outcome} outcome */
function add(report, outcome) {
    report.steps += outcome.steps;
    report.hash = mixed(report.hash, outcome.hash);
    count(outcome.faults, report.faults);
}

/**
 * Tries to run every schedule.
 *
 * @param {import('./emulator/plan.js').Plan} plan
 * @param {number} seed of the random numbers
 * @param {{ runsMax: number, stepsMax: number, oneSeed: boolean }} bounds
 * @returns {Promise<{ decided?: ExploreReport, bound: string, undecided?: object }>} `decided`: the report, if all
 *   schedules were run or one is broken; `undecided`: what a report says about a failure that does not repeat
 */
async function exhausted(plan, seed, { runsMax, ...bounds }) {
    if (runsMax === 0) return { bound: '' };
    const report = emptyReport('');
    const onRun = (/** @type {import('./emulator/explore.js').Outcome} */ outcome) => add(report, outcome);
    const { proved, broken: failing, bound } = await exhaust(plan, { seed, runsMax, ...bounds, onRun });
    report.bound = bound;
    if (proved) return { decided: { ...report, verdict: 'proved' }, bound };
    const found = failing && (await judged(plan, seed, failing, false));
    if (found?.verdict === 'broken') return { decided: { ...report, ...found }, bound };
    return { bound, undecided: found };
}

/**
 * Repeats a broken run step by step.
 *
 * @param {Scenario | string | URL} scenario the scenario of the broken run
 * @param {ExploreReport | { seed: number, schedule: readonly number[] }} found the report of the broken run, or its
 *   seed and schedule
 * @param {ExploreOptions & Omit<CreateOriginOptions, 'seed' | 'clock'>} [options] the options of the broken run
 * @returns {Promise<ExploreReport>} `unbroken within the bound` if the run does not break, since the scenario has
 *   changed
 * @throws {TabacusError} `invalid-argument`, `unavailable` without emulator.wasm
 */
export async function replay(scenario, found, options = {}) {
    const { seed, schedule } = checkFound(found);
    const limited = withoutLimit();
    const outcome = await planOf(scenario, options)
        .then(({ plan }) => decide(plan, { seed, schedule, traced: true }, true))
        .finally(limited);
    const { steps, failure, waitsFor, story, trace, svg, hash } = outcome;
    const unbroken = /** @type {const} */ ({ verdict: 'unbroken within the bound', ...failed('') });
    return {
        ...(failure ? { verdict: /** @type {const} */ ('broken'), ...failed(failure) } : unbroken),
        ...(waitsFor && inconclusive(waitsFor)),
        bound: 'one schedule',
        seeds: 1,
        steps,
        faults: count(outcome.faults, {}),
        hash,
        seed,
        schedule: [...schedule],
        story,
        trace,
        svg,
    };
}

/** @param {readonly string[]} faults @param {Record<string, number>} counted */
function count(faults, counted) {
    for (const fault of faults) counted[fault] = (counted[fault] ?? 0) + 1;
    return counted;
}

/** @param {any} found @returns {{ seed: number, schedule: readonly number[] }} */
function checkFound(found) {
    const choice = (/** @type {unknown} */ index) =>
        Number.isInteger(index) && Number(index) >= 0 && Number(index) <= 0xffff;
    const good =
        Number.isSafeInteger(found?.seed) &&
        found.seed >= 0 &&
        Array.isArray(found.schedule) &&
        found.schedule.every(choice);
    if (!good) throw invalid('found', found, 'the report of a broken run');
    return found;
}

/** The largest number of runs for shrinking a schedule. */
const shrinkRunsMax = 300;

/** @typedef {import('./emulator/plan.js').Plan} Plan */
/** @typedef {import('./emulator/explore.js').Outcome} Outcome */

/** @param {string} waitsFor what an inconclusive run last waited for */
const inconclusive = (waitsFor) => ({
    verdict: /** @type {const} */ ('inconclusive'),
    ...failed(`inconclusive: ${waitsFor}`),
    waitsFor,
});

/**
 * What the outcome of a seed adds to the report of an exploration; undefined if the run is unbroken.
 *
 * @param {Plan} plan
 * @param {number} seed
 * @param {Outcome} outcome
 * @param {boolean} undecided whether an earlier run was inconclusive already
 */
async function judged(plan, seed, outcome, undecided) {
    const { failure, waitsFor, schedule } = outcome;
    const found = failure ? await broken(plan, seed, outcome) : undefined;
    if (found || undecided || !(failure || waitsFor)) return found;
    const { story, trace, svg } = await runOnce(plan, { seed, schedule, traced: true });
    const verdict = waitsFor
        ? inconclusive(waitsFor)
        : {
              verdict: /** @type {const} */ ('inconclusive'),
              ...failed(
                  `inconclusive: a run failed, and did not fail again when it was repeated: ${failure}`,
              ),
          };
    return { ...verdict, seed, schedule, story, trace, svg };
}

/**
 * Shrinks a failing run.
 *
 * @param {Plan} plan
 * @param {number} seed
 * @param {Outcome} failing
 * @returns what a report says about it, which repeats; undefined if the failure does not repeat
 */
async function broken(plan, seed, failing) {
    const shrunk = failing.endless ? failing : await shrink(plan, seed, failing, shrinkRunsMax);
    for (const { schedule } of new Set(shrunk ? [shrunk, failing] : [])) {
        const outcome = await decide(plan, { seed, schedule, traced: true });
        const { failure, story, trace, svg } = outcome;
        if (!sameFailure(outcome, failing)) continue;
        const verdict = /** @type {const} */ ('broken');
        return { verdict, ...failed(failure), seed, schedule, story, trace, svg };
    }
    return undefined;
}

/** Mixes a text into a hash (FNV-1a). @param {string} hash @param {string} more */
function mixed(hash, more) {
    let [low, high] = [0x811c9dc5, 0x01000193];
    for (const unit of hash + more) {
        low = Math.imul(low ^ unit.charCodeAt(0), 0x01000193);
        high = Math.imul(high ^ low, 0x01000193);
    }
    return [low, high].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
}

/** The names of explore()'s options: its own, and those of the origins that it makes. */
const exploreOptions = /** @type {const} */ ([
    'seeds',
    'tabs',
    'recordFormats',
    'faults',
    'faultBudget',
    'setup',
    'invariant',
    'steps',
    'timerWindow',
    'exhaust',
    'signal',
    'progress',
    'workers',
    ...originOptions.filter((name) => name !== 'seed' && name !== 'clock'),
]);

/** @param {unknown} window_ms */
function checkWindow(window_ms) {
    if (typeof window_ms === 'number' && window_ms >= 0) return window_ms;
    throw invalid('timerWindow', window_ms, 'a number of milliseconds from 0 to Infinity');
}

/** @param {unknown} scenario @param {unknown} given */
async function planOf(scenario, given) {
    const module = moduleAddress(scenario);
    if (typeof scenario !== 'function' && typeof scenario !== 'string' && module === undefined)
        throw invalid('scenario', scenario, 'a function, a string or the URL of a module');
    const {
        seeds = 1000,
        tabs,
        recordFormats,
        faults: chosen,
        faultBudget,
        steps,
        timerWindow,
        exhaust: runs,
        ...others
    } = checkOptions(given, exploreOptions);
    const { setup, invariant, signal, progress, workers, ...rest } = others;
    const count = checkThreads(workers, module, { scenario, ...others });
    const { checked, wasm, fakeIndexedDB } = checkOrigin(rest);
    const bounds = checkBounds({ tabs, recordFormats, faults: chosen, faultBudget, steps, timerWindow });
    checkCalls({ setup, invariant }, progress);
    const list = seedsOf(seeds);
    const ending = checkSignal(signal);
    ending?.throwIfAborted();
    if (ending) unlimited(ending); // each of many explorations may have a listener
    const attempt = attemptOf(runs, seeds, bounds);
    const [glue, found] = await load(wasm, fakeIndexedDB);
    const exported = /** @type {any} */ (module === undefined ? { scenario } : await importScenario(module));
    const own = { setup: setup ?? exported.setup, invariant: invariant ?? exported.invariant ?? (() => {}) };
    const plan = /** @type {import('./emulator/plan.js').Plan} */ ({
        ...{ ...exported, ...own, glue, fakeIndexedDB: found, origin: checked, signal: ending },
        ...bounds,
        hostWaits: new HostWaits(),
    });
    await warmUp(plan);
    const threads = count === undefined ? undefined : { count, module: String(module), wasm };
    return { plan, attempt, seeds: list, progress: /** @type {any} */ (progress), threads };
}

/** @param {Record<string, unknown>} given */
function checkBounds(given) {
    const { tabs = 2, faults: chosen = [], faultBudget = 1, steps = 20_000, timerWindow = 1000 } = given;
    const { recordFormats = [1] } = given;
    if (!Array.isArray(chosen)) throw invalid('faults', chosen, 'an array');
    for (const fault of chosen) checkOneOf('faults', fault, faults);
    if (!Array.isArray(recordFormats) || recordFormats.length === 0)
        throw invalid('recordFormats', recordFormats, 'an array of formats');
    for (const format of recordFormats) checkInteger('recordFormats', format, 1, recordFormatMax);
    const numbers = {
        tabs: checkInteger('tabs', tabs, 1, 64),
        faultBudget: Math.min(checkInteger('faultBudget', faultBudget, 0, 64), chosen.length > 0 ? 64 : 0),
        stepsMax: checkInteger('steps', steps, 1, 1e6),
        timerWindow_ms: checkWindow(timerWindow),
    };
    return { ...numbers, recordFormats: [...recordFormats], faults: numbers.faultBudget === 0 ? [] : chosen };
}

/** @param {Record<string, unknown>} calls @param {unknown} progress */
function checkCalls(calls, progress) {
    for (const [name, call] of Object.entries(calls)) {
        if (call !== undefined && typeof call !== 'function') throw invalid(name, call, 'a function');
    }
    if (progress !== undefined && typeof progress !== 'boolean' && typeof progress !== 'function')
        throw invalid('progress', progress, 'a function, true or false');
}

/** @param {unknown} seeds */
function seedsOf(seeds) {
    if (Array.isArray(seeds))
        return seeds.map((seed) => checkInteger('seeds', seed, 0, Number.MAX_SAFE_INTEGER));
    return Array.from({ length: checkInteger('seeds', seeds, 0, 1e7) }, (_, at) => at + 1);
}

/** The number of seeds for each run of the attempt to run every schedule. */
const seedsPerAttempt = 20;

/**
 * The bounds within which explore() tries to run every schedule.
 *
 * @param {unknown} asked the option `exhaust`
 * @param {unknown} seeds the option `seeds`
 * @param {{ stepsMax: number, recordFormats: number[] }} bounds
 */
function attemptOf(asked, seeds, { stepsMax, recordFormats }) {
    // The schedules of one choice of formats prove nothing about the others.
    const most = recordFormats.length > 1 ? 0 : Infinity;
    if (asked !== undefined) {
        const runsMax = Math.min(most, checkInteger('exhaust', asked, 0, 1e6));
        return { runsMax, stepsMax, oneSeed: true };
    }
    const runsMax = Math.min(most, typeof seeds === 'number' ? Math.floor(seeds / seedsPerAttempt) : 0);
    return { runsMax, stepsMax: Math.min(stepsMax, unaskedStepsMax), oneSeed: false };
}
