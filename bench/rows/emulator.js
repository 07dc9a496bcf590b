/** The emulator, compared with other tools for tests: the Storage of jsdom, the locks of Chromium, and async-mutex. */

import { Mutex } from 'async-mutex';
// @ts-ignore: it has no types of its own
import { JSDOM } from 'jsdom';

import { median } from '../lib/rows.js';

const ROUNDS = 7;
const STORAGE_CALLS = 50_000;
const LOCK_CALLS = 20_000;
const TABS = 1_000;
const SEEDS = 500;

/** The keys that are written over and over, so that the storage does not grow. */
const KEYS = Array.from({ length: 100 }, (_, at) => `key ${at}`);
const VALUES = Array.from({ length: 101 }, (_, at) => `value ${at}`);

/** @param {number} calls @param {() => unknown} body @returns {Promise<number>} calls per second */
async function rate(calls, body) {
    const begin = performance.now();
    await body();
    return calls / ((performance.now() - begin) / 1000);
}

/**
 * Measures both alternately, so that a busy machine slows both.
 *
 * @param {() => Promise<number>} ours
 * @param {() => Promise<number>} peer
 */
async function samples(ours, peer) {
    await ours();
    await peer();
    const both = { ours: /** @type {number[]} */ ([]), peer: /** @type {number[]} */ ([]) };
    for (let round = 0; round < ROUNDS; ++round) {
        both.ours.push(await ours());
        both.peer.push(await peer());
    }
    return both;
}

/** @param {Storage} storage @param {'getItem' | 'setItem'} operation */
const storageRate = (storage, operation) =>
    rate(STORAGE_CALLS, () => {
        for (let at = 0; at < STORAGE_CALLS; ++at)
            storage[operation](KEYS[at % KEYS.length] ?? '', VALUES[at % VALUES.length] ?? '');
    });

/** @param {{ request: (name: string, callback: () => void) => Promise<unknown> }} locks */
const lockRate = (locks) =>
    rate(LOCK_CALLS, async () => {
        for (let at = 0; at < LOCK_CALLS; ++at) await locks.request('l', () => {});
    });

/** @param {import('../lib/context.js').Context} context @returns {Promise<number>} */
async function nativeLockRate({ openTab }) {
    const tab = await openTab('open.html');
    return tab.evaluate(async (/** @type {number} */ calls) => {
        const begin = performance.now();
        for (let at = 0; at < calls; ++at) await navigator.locks.request('l', () => {});
        return calls / ((performance.now() - begin) / 1000);
    }, 2_000);
}

/** @param {typeof import('tabacus/emulator')} emulator */
async function tabsPerSecond({ createOrigin }) {
    const origin = await createOrigin();
    const perSecond = await rate(TABS, async () => {
        const tabs = Array.from({ length: TABS }, () => origin.openTab());
        await Promise.all(tabs.map((tab) => tab.close()));
    });
    origin.close();
    return perSecond;
}

/** @param {typeof import('tabacus/emulator')} emulator */
const seedsPerSecond = ({ explore }) =>
    rate(SEEDS, () =>
        explore(
            async ({ window }) => {
                await window.navigator.locks.request('n', () =>
                    window.localStorage.setItem('n', `${Number(window.localStorage.getItem('n')) + 1}`),
                );
            },
            { seeds: SEEDS },
        ),
    );

/**
 * @param {import('../lib/context.js').Context} context
 * @returns {Promise<import('../lib/rows.js').Row[]>}
 */
export async function emulator(context) {
    const ours = await import('tabacus/emulator');
    const origin = await ours.createOrigin();
    const { localStorage, navigator } = origin.openTab().window;
    const jsdom = new JSDOM('', { url: 'https://example.test/' }).window.localStorage;
    const mutex = new Mutex();
    const locks = await samples(
        () => lockRate(navigator.locks),
        () => lockRate({ request: (_, callback) => mutex.runExclusive(callback) }),
    );
    const rows = [];
    for (const operation of /** @type {const} */ (['getItem', 'setItem'])) {
        const both = await samples(
            () => storageRate(localStorage, operation),
            () => storageRate(jsdom, operation),
        );
        rows.push({
            name: `emulator, ${operation}`,
            unit: 'calls/s',
            peer: 'jsdom',
            samples: both,
            target: { least: 5 },
        });
    }
    origin.close();
    return [
        ...rows,
        {
            name: 'emulator, request, grant and release',
            unit: 'locks/s',
            peer: 'async-mutex',
            samples: locks,
            target: { least: 1 },
        },
        {
            name: 'emulator, request, grant and release',
            unit: 'locks/s',
            peer: "Chromium's own",
            samples: { ours: locks.ours, peer: [await nativeLockRate(context)] },
            target: { least: 20 },
        },
        {
            name: 'emulator, tabs opened and closed',
            unit: 'tabs/s',
            peer: 'the target',
            samples: { ours: [await tabsPerSecond(ours)], peer: [1_000] },
            target: { least: 1 },
        },
        {
            name: 'emulator, seeds of a lock around localStorage',
            unit: 'seeds/s',
            peer: 'one',
            samples: { ours: [median([await seedsPerSecond(ours)])], peer: [1] },
            target: { least: 1 },
        },
    ];
}
