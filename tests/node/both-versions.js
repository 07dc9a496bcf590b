/**
 * Opens tabs of an earlier version (tests/versions/tabacus-*.tgz, as `npm pack` wrote it) and of the present one in one
 * browser, for the tests that each increment is counted once, each lock granted to one tab, and each job run once.
 */

import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { describe } from 'node:test';
import { open } from 'tabacus';
import { newOrigin } from '../versions/origins.js';
import { loadPackedVersion } from '../versions/packed-version.js';

/** @typedef {import('tabacus').Tab} Tab */
/** @typedef {import('tabacus/emulator').Origin} Origin */
/** @typedef {import('tabacus/emulator').Tab} Page */

/**
 * Four tabs: those at 0 and 2 are of the earlier version, those at 1 and 3 of the present one.
 *
 * @typedef {[Tab, Tab, Tab, Tab]} Tabs
 */

/**
 * @typedef {object} Browser
 * @property {Tabs} tabs
 * @property {Page[]} pages of the tabs, in the same order
 * @property {Origin} origin
 */

/** @typedef {import('../versions/packed-version.js').PackedVersion} PackedVersion */

const folder = new URL('../versions/', import.meta.url);
const tarballs = readdirSync(folder).filter((file) => file.endsWith('.tgz'));
const earlier = await Promise.all(tarballs.map((file) => loadPackedVersion(new URL(file, folder))));

export const namespace = 'shop';

/** Sleeps for a time of the emulated browser. @param {Page | undefined} page @param {number} ms */
export const sleep = (page, ms) => new Promise((resolve) => page?.window.setTimeout(resolve, ms));

/** What the tests of one earlier version run with. @param {PackedVersion} earlierVersion */
function tools({ version, url, open: openEarlier }) {
    // On an isolated page the version 0.1.0 counts with a separate build, which shares memory.
    const isolated = version === '0.1.0' ? { build: /** @type {any} */ ('threads') } : {};

    /**
     * Opens the tabs in the order of their numbers, uses them, and fails if one of them emits `warning`, other than
     * `older-version`, or `storelost`.
     *
     * @param {number} seed
     * @param {(browser: Browser) => Promise<void>} use
     * @param {object} [options] of the origin
     */
    async function withBothVersions(seed, use, options = {}) {
        const origin = await newOrigin({ seed, ...options });
        const pages = [0, 1, 2, 3].map(() => origin.openTab());
        /** @type {Tab[]} */
        const opened = [];
        /** @type {unknown[]} */
        const events = [];
        for (const [at, { window }] of pages.entries()) {
            const build = at === 2 ? isolated : {};
            const tab = await (at % 2 === 0 ? openEarlier : open)({ ...build, namespace, window });
            tab.addEventListener('warning', ({ detail }) => {
                if (detail.code !== 'older-version') events.push(detail);
            });
            tab.addEventListener('storelost', ({ detail }) => events.push(detail));
            opened.push(tab);
        }
        await use({ origin, pages, tabs: /** @type {Tabs} */ (opened) });
        await origin.settled();
        await Promise.all(opened.map((tab, at) => pages[at]?.closed || tab.close()));
        assert.deepEqual(events, []);
    }

    /** @param {(browser: Browser, seed: number) => Promise<void>} use @param {object} [options] */
    const underSeeds = (use, options) => async () => {
        for (const seed of [1, 2, 3]) await withBothVersions(seed, (browser) => use(browser, seed), options);
    };

    /**
     * Runs a test twice: once with a tab of the earlier version as the first, and once with one of the present version.
     *
     * @param {(browser: Browser) => Promise<void>} use receives the tabs in the order in which it uses them
     */
    const inBothRoles = (use) => async () => {
        for (const seed of [1, 2]) {
            await withBothVersions(seed, (browser) => {
                if (seed === 1) return use(browser);
                const { tabs, pages } = browser;
                const [a, b, c, d] = tabs;
                return use({
                    ...browser,
                    pages: [1, 0, 3, 2].flatMap((at) => pages[at] ?? []),
                    tabs: [b, a, d, c],
                });
            });
        }
    };

    return { url, openEarlier, withBothVersions, underSeeds, inBothRoles };
}

/**
 * Defines tests for each earlier version.
 *
 * @param {(use: ReturnType<typeof tools>) => void} define
 */
export function besideEachVersion(define) {
    for (const packed of earlier) {
        const title = `tabs of ${packed.version} and of the present version together`;
        describe(title, { timeout: 120_000 }, () => define(tools(packed)));
    }
}
