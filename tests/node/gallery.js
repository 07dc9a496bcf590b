/**
 * The gallery: recipes and unmodified packages of other authors, run in the tabs of an emulated origin
 * (docs/gallery.md).
 */

import { fileURLToPath } from 'node:url';

import { checkThenAct, lockAroundStorage } from '../../demo/gallery-recipes.js';

/** @typedef {import('tabacus/emulator').Tab} Tab */
/** @typedef {import('tabacus/emulator').Scenario} Scenario */

/**
 * @typedef {object} Entry
 * @property {string} name
 * @property {string} claim what must not happen, as the text of the failure
 * @property {string} [orElse] the text of another failure that may be found
 * @property {string} [bundle] the package that a page would import, as one script
 * @property {Scenario} scenario
 * @property {import('tabacus/emulator').ExploreOptions} [options]
 * @property {{ cached: 'broken' | 'unbroken', interleaved: 'broken' | 'unbroken' }} verdicts of its
 *     seeds under each storage model
 */

/**
 * Bundles a module and its imports into one script, as the bundler of a page does.
 * @param {string} contents
 */
export async function bundled(contents) {
    const { build } = await import('esbuild');
    const resolveDir = fileURLToPath(new URL('../..', import.meta.url));
    const { outputFiles } = await build({
        stdin: { contents, resolveDir },
        bundle: true,
        write: false,
        format: 'iife',
        globalName: 'Bundle',
        platform: 'browser',
        logLevel: 'silent',
    });
    return outputFiles[0]?.text ?? '';
}

/** @type {WeakMap<object, { holders: Set<Tab> }>} */
const judges = new WeakMap();

/** The judge of a run: the tabs that are in the critical section or lead, of all tabs. @param {object} origin */
function judgeOf(origin) {
    const judge = judges.get(origin) ?? { holders: new Set() };
    judges.set(origin, judge);
    return judge;
}

/** Runs a critical section of a millisecond. Throws if another tab is in it. @param {Tab} tab @param {object} origin */
async function enter(tab, origin) {
    const { holders } = judgeOf(origin);
    holders.add(tab);
    if ([...holders].filter((one) => !one.closed).length > 1)
        throw new Error('two tabs are in the critical section');
    await new Promise((resolve) => tab.window.setTimeout(resolve, 1));
    holders.delete(tab);
}

/** Removes Web Locks from a tab. @param {Tab} tab */
const withoutLocks = (tab) =>
    Object.defineProperty(tab.window.navigator, 'locks', { value: undefined, configurable: true });

/** @param {Tab} tab @param {string} script */
const load = (tab, script) => tab.run(script);

/** @type {(scripts: Map<string, string>) => Entry[]} */
export const galleryOf = (scripts) => [
    ...[lockAroundStorage, checkThenAct].map(({ invariant, ...recipe }) => ({
        ...recipe,
        options: { invariant },
        verdicts: /** @type {Entry['verdicts']} */ ({ cached: 'broken', interleaved: 'unbroken' }),
    })),
    {
        name: 'browser-tabs-lock 1.3.0',
        claim: 'two tabs are in the critical section',
        scenario: async (tab, { origin }) => {
            await load(tab, scripts.get('browser-tabs-lock') ?? '');
            const lock = new tab.window.Bundle.default();
            if (!(await lock.acquireLock('k', 5000))) return;
            await enter(tab, origin);
            await lock.releaseLock('k');
        },
        verdicts: { cached: 'broken', interleaved: 'broken' },
    },
    {
        name: 'navigator.locks 0.9.1, a polyfill',
        claim: 'two tabs are in the critical section',
        orElse: 'it does not come to rest within 3000 steps',
        scenario: async (tab, { origin }) => {
            withoutLocks(tab);
            tab.window.console = { ...console, log() {}, info() {}, error() {}, warn() {} };
            await load(tab, scripts.get('navigator.locks') ?? '');
            await tab.window.navigator.locks.request('k', () => enter(tab, origin));
        },
        // A heartbeat that is older than 3.1 s counts as the death of a holder, so the lease may overtake a release.
        options: { steps: 3000, timerWindow: Infinity },
        verdicts: { cached: 'broken', interleaved: 'broken' },
    },
    ...[true, false].map((native) => ({
        name: `broadcast-channel 7.4.0, leader election ${native ? 'with' : 'without'} Web Locks`,
        claim: 'two tabs lead',
        scenario: /** @type {Scenario} */ (
            async (tab, { origin }) => {
                if (!native) withoutLocks(tab);
                await load(tab, scripts.get('broadcast-channel') ?? '');
                const { BroadcastChannel, createLeaderElection } = tab.window.Bundle;
                const elector = createLeaderElection(new BroadcastChannel('c'));
                const leads = elector.awaitLeadership().then(() => {
                    const { holders } = judgeOf(origin);
                    holders.add(tab);
                    if (holders.size > 1) throw new Error('two tabs lead');
                });
                await Promise.race([leads, new Promise((resolve) => tab.window.setTimeout(resolve, 10_000))]);
            }
        ),
        options: { seeds: 15 },
        verdicts: /** @type {Entry['verdicts']} */ (
            native
                ? { cached: 'unbroken', interleaved: 'unbroken' }
                : { cached: 'broken', interleaved: 'broken' }
        ),
    })),
];

/** The import statement for each package of the gallery. */
export const IMPORTS = {
    'browser-tabs-lock': "export { default } from 'browser-tabs-lock'",
    'navigator.locks': "import 'navigator.locks'",
    'broadcast-channel': "export { BroadcastChannel, createLeaderElection } from 'broadcast-channel'",
};

export async function gallery() {
    const scripts = await Promise.all(
        Object.entries(IMPORTS).map(
            async ([name, contents]) => /** @type {const} */ ([name, await bundled(contents)]),
        ),
    );
    return galleryOf(new Map(scripts));
}
