/**
 * The emulator: an origin with several tabs in one process, behind the platform's own API.
 *
 * @example
 * import { createOrigin } from 'tabacus/emulator';
 * const origin = await createOrigin({ url: 'https://shop.example/', storage: 'cached', seed: 7 });
 * const [a, b] = [origin.openTab(), origin.openTab()];
 * await b.run(() => addEventListener('storage', (event) => console.log(event.key, event.newValue)));
 * a.window.localStorage.setItem('basket', '3');
 * await origin.settled();
 */

import { checkWasm } from './core/module.js';
import { loadRules } from './emulator/rules.js';
import { runOnce, shrink } from './emulator/explore.js';
import { checkPeer, loadPeer } from './emulator/database/indexed-db.js';
import { Origin as EmulatedOrigin } from './emulator/origin.js';
import { invalid } from './common/errors.js';
import { faults } from './lab/faults.js';
import { checkInteger, checkOneOf, checkOptions } from './common/check-arguments.js';
import { checkSignal } from './common/check-waits.js';

export { TabacusError } from './common/errors.js';
export { faults };

/** @typedef {import('./emulator/origin.js').Origin} Origin */
/** @typedef {import('./emulator/emulated-tab.js').Tab} Tab */

/**
 * Where browsers are known to differ from the specification, or from each other.
 *
 * - `no-wake-after-abort`: as in Chromium, a request behind an aborted lock request is not granted until a holder
 *   releases, although Web Locks §4.3 requires it
 * - `equal-writes-dropped`: as Firefox and WebKit, a write of what the writer's copy holds already is not sent
 */
export const quirks = Object.freeze(/** @type {const} */ (['no-wake-after-abort', 'equal-writes-dropped']));

/** When a tab sees what others write to localStorage; browsers do the first. */
export const storages = Object.freeze(/** @type {const} */ (['cached', 'interleaved', 'mutexed']));

/**
 * @typedef {object} CreateOriginOptions
 * @property {string | URL} [url] of its tabs; `https://example.test/` by default
 * @property {'cached' | 'interleaved' | 'mutexed'} [storage] `cached` by default
 * @property {number} [seed] an integer from 0 to 2^53 − 1, which decides what happens next. Without one, whatever was
 *   begun first happens first
 * @property {'virtual' | 'real'} [clock] `virtual` by default: time passes when nothing else can happen
 * @property {number} [quota_bytes] how much a storage takes, keys and values together, in UTF-8; 5 MiB by
 *   default
 * @property {readonly (typeof quirks[number])[]} [quirks] none by default
 * @property {import('./core/module.js').WasmSource} [wasm] where emulator.wasm is, if not beside the package's modules
 * @property {object} [fakeIndexedDB] the module `fake-indexeddb`, where `import('fake-indexeddb')` does not find it
 */

/** HTML §12.2: "a mostly arbitrary limit of five megabytes per origin is suggested". */
const quotaBytesDefault = 5 * 1024 * 1024;

/** @type {Promise<import('./emulator/rules.js').EmulatorModule> | undefined} */
let shared;

/**
 * @param {CreateOriginOptions} [options]
 * @returns {Promise<Origin>} rejects with `invalid-argument`, and `unavailable` without emulator.wasm
 */
export async function createOrigin(options = {}) {
    const { checked, wasm, peer } = checkOrigin(options);
    const [glue, found] = await load(wasm, peer);
    return new EmulatedOrigin(glue, checked, found);
}

/** Another call loads it again where that has failed. */
const loadShared = () =>
    loadRules(undefined).catch((error) => {
        shared = undefined;
        throw error;
    });

/** @param {import('./core/module.js').WasmSource | undefined} wasm @param {unknown} peer */
function load(wasm, peer) {
    const glue = wasm === undefined ? (shared ??= loadShared()) : loadRules(wasm);
    return Promise.all([glue, peer ?? loadPeer()]);
}

/** The names of createOrigin()'s options. */
const originOptions = /** @type {const} */ ([
    'url',
    'storage',
    'seed',
    'clock',
    'quota_bytes',
    'quirks',
    'wasm',
    'fakeIndexedDB',
]);

/** @param {unknown} given */
function checkOrigin(given) {
    const options = checkOptions(given, originOptions);
    const { storage = 'cached', seed, clock = 'virtual', quota_bytes = quotaBytesDefault } = options;
    const { quirks: chosen = [], url = 'https://example.test/' } = options;
    if (!Array.isArray(chosen) || chosen.some((quirk) => !quirks.includes(quirk))) {
        throw invalid('quirks', chosen, `an array of ${quirks.join(', ')}`);
    }
    const checked = {
        url: checkUrl(url),
        storage: /** @type {any} */ (checkOneOf('storage', storage, storages)),
        seed: seed === undefined ? undefined : checkInteger('seed', seed, 0, Number.MAX_SAFE_INTEGER),
        clock: /** @type {any} */ (checkOneOf('clock', clock, ['virtual', 'real'])),
        quota_bytes: checkInteger('quota_bytes', quota_bytes, 0, 2 ** 31 - 1),
        quirks: {
            dropsEqualWrites: chosen.includes('equal-writes-dropped'),
            wakesAfterAbort: !chosen.includes('no-wake-after-abort'),
        },
    };
    return {
        checked,
        wasm: options.wasm === undefined ? undefined : checkWasm(options.wasm, 'wasm'),
        peer: options.fakeIndexedDB === undefined ? undefined : checkPeer(options.fakeIndexedDB),
    };
}

/** @param {unknown} url */
function checkUrl(url) {
    if ((typeof url === 'string' || url instanceof URL) && URL.canParse(url)) {
        const { href, origin } = new URL(url);
        if (origin !== 'null') return href;
    }
    throw invalid('url', url, 'an absolute URL of an origin that is not opaque');
}

/** @typedef {import('./emulator/explore.js').Scenario} Scenario */
/** @typedef {import('./emulator/explore.js').InvariantContext} InvariantContext */

/**
 * @typedef {object} ExploreOptions besides those of {@link createOrigin}, of which `seed` and `clock` are ours
 * @property {number | readonly number[]} [seeds] how many, from 1 on, or which; 1,000 by default
 * @property {number} [tabs] 1 to 64; 2 by default
 * @property {readonly (typeof faults[number])[]} [faults] that may happen; none by default
 * @property {number} [faultBudget] how many of them in one run, 0 to 64; 1 by default
 * @property {(context: InvariantContext) => unknown} [invariant] called when nothing can happen any more: false, a
 *   sentence or an exception is a failure
 * @property {number} [steps] after which a run counts as endless, 1 to 10^6; 20,000 by default
 * @property {AbortSignal} [signal] ends it; the promise is rejected with its reason
 * @property {(seeds: number) => void} [progress] called after each seed
 */

/**
 * @typedef {object} ExploreResult
 * @property {'broken' | 'unbroken within the bound'} verdict
 * @property {number} seeds how many were run
 * @property {number} steps of all runs
 * @property {Record<string, number>} faults how often each happened
 * @property {string} hash equal for equal explorations, in hexadecimal
 * @property {number} [seed] which broke it
 * @property {number[]} [schedule] the simplest that breaks it, for {@link replay}
 * @property {string} [trace] of a broken one: a line for each thing that happened
 * @property {string} [svg] the same as a sequence diagram
 */

/** @param {string} failure */
const failed = (failure) => ({
    /** What was wrong, in one sentence; empty unless broken. */
    failure,
    /** @deprecated Use `failure`, which has the same value. */
    complaint: failure,
});

/** @typedef {ExploreResult & ReturnType<typeof failed>} ExploreReport */

/**
 * Runs a scenario in every tab of an emulated origin, once a seed, until a run breaks: the scenario throws, never
 * ends, or leaves what the invariant denies. Odd seeds are random walks over turns, deliveries, grants, timers and
 * faults; even seeds go by priorities that change at random (PCT).
 *
 * @param {Scenario | string} scenario called in each tab with the tab, or a script that is run there
 * @param {ExploreOptions & Omit<CreateOriginOptions, 'seed' | 'clock'>} [options]
 * @returns {Promise<ExploreReport>}
 * @throws {TabacusError} `invalid-argument`, `unavailable` without emulator.wasm
 * @example
 * const report = await explore(async ({ window: { navigator, localStorage } }) => {
 *     await navigator.locks.request('n', () => { localStorage.n = Number(localStorage.n ?? 0) + 1; });
 * }, { tabs: 2, invariant: ({ origin }) => origin.openTab().window.localStorage.n === '2' });
 */
export async function explore(scenario, options = {}) {
    const { plan, seeds, signal, progress } = await planOf(scenario, options);
    /** @type {ExploreReport} */
    const report = {
        verdict: 'unbroken within the bound',
        seeds: 0,
        steps: 0,
        faults: {},
        hash: '',
        ...failed(''),
    };
    const { schedule } = await runOnce(plan, { seed: 1, schedule: [] });
    const length = Math.max(
        schedule.length,
        (await runOnce({ ...plan, faults: [] }, { seed: 1, schedule: [] })).steps,
        10,
    );
    for (const seed of seeds) {
        signal?.throwIfAborted();
        const outcome = await runOnce(plan, { seed, length });
        ++report.seeds;
        report.steps += outcome.steps;
        report.hash = mixed(report.hash, outcome.hash);
        count(outcome.faults, report.faults);
        if (outcome.failure) return broken(plan, seed, outcome, report);
        progress?.(report.seeds);
    }
    return report;
}

/**
 * A broken run again, step by step as it was.
 *
 * @param {Scenario | string} scenario the same
 * @param {ExploreReport | { seed: number, schedule: readonly number[] }} found a report of a broken run, or what was kept of one
 * @param {ExploreOptions & Omit<CreateOriginOptions, 'seed' | 'clock'>} [options] the same
 * @returns {Promise<ExploreReport>} unbroken if that run does not break any more
 */
export async function replay(scenario, found, options = {}) {
    const { seed, schedule } = checkFound(found);
    const { plan } = await planOf(scenario, options);
    const outcome = await runOnce(plan, { seed, schedule, traced: true });
    const { steps, failure, trace, svg, hash } = outcome;
    const verdict = failure ? 'broken' : 'unbroken within the bound';
    return {
        verdict,
        seeds: 1,
        steps,
        faults: count(outcome.faults, {}),
        hash,
        ...failed(failure),
        seed,
        schedule: [...schedule],
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

/** Runs that shrinking may take. */
const shrinkRunsMax = 300;

/** @param {import('./emulator/explore.js').Plan} plan @param {number} seed @param {import('./emulator/explore.js').Outcome} failing @param {ExploreReport} report */
async function broken(plan, seed, failing, report) {
    const { schedule } = failing.endless ? failing : await shrink(plan, seed, failing, shrinkRunsMax);
    const { failure, trace, svg } = await runOnce(plan, { seed, schedule, traced: true });
    return {
        ...report,
        verdict: /** @type {const} */ ('broken'),
        ...failed(failure || failing.failure),
        seed,
        schedule,
        trace,
        svg,
    };
}

/** FNV-1a. @param {string} hash @param {string} more */
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
    'faults',
    'faultBudget',
    'invariant',
    'steps',
    'signal',
    'progress',
    ...originOptions.filter((name) => name !== 'seed' && name !== 'clock'),
]);

/** @param {unknown} scenario @param {unknown} given */
async function planOf(scenario, given) {
    if (typeof scenario !== 'function' && typeof scenario !== 'string')
        throw invalid('scenario', scenario, 'a function or a string');
    const {
        seeds = 1000,
        tabs = 2,
        faults: chosen = [],
        faultBudget = 1,
        invariant = () => {},
        steps = 20_000,
        signal,
        progress,
        ...rest
    } = checkOptions(given, exploreOptions);
    const { checked, wasm, peer } = checkOrigin(rest);
    if (!Array.isArray(chosen)) throw invalid('faults', chosen, 'an array');
    for (const fault of chosen) checkOneOf('faults', fault, faults);
    for (const [name, call] of Object.entries({ invariant, progress })) {
        if (call !== undefined && typeof call !== 'function') throw invalid(name, call, 'a function');
    }
    const numbers = {
        tabs: checkInteger('tabs', tabs, 1, 64),
        faultBudget: Math.min(checkInteger('faultBudget', faultBudget, 0, 64), chosen.length > 0 ? 64 : 0),
        stepsMax: checkInteger('steps', steps, 1, 1e6),
    };
    const list = seedsOf(seeds);
    const ending = checkSignal(signal);
    ending?.throwIfAborted();
    const [glue, found] = await load(wasm, peer);
    const plan = /** @type {import('./emulator/explore.js').Plan} */ ({
        ...{ glue, peer: found, scenario, invariant, origin: checked, signal: ending },
        faults: numbers.faultBudget === 0 ? [] : chosen,
        ...numbers,
    });
    return { plan, seeds: list, signal: ending, progress: /** @type {any} */ (progress) };
}

/** @param {unknown} seeds */
function seedsOf(seeds) {
    if (Array.isArray(seeds))
        return seeds.map((seed) => checkInteger('seeds', seed, 0, Number.MAX_SAFE_INTEGER));
    return Array.from({ length: checkInteger('seeds', seeds, 0, 1e7) }, (_, at) => at + 1);
}
