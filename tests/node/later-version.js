/**
 * Opens tabs of this version, and of a later one, which stores and sends records in the format 2. `npm run proof` builds
 * a package of such a version, and sets TABACUS_LATER to its folder. Otherwise the program of this version runs in tabs
 * whose records the emulator translates.
 */

import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { open } from 'tabacus';

/** @typedef {import('tabacus/emulator').Origin} Origin */
/** @typedef {import('tabacus/emulator').Tab} Page */

export const namespace = 'shop';
export const mismatch = { code: 'version-mismatch' };

const folder = process.env.TABACUS_LATER;

/** The function `open()` of the later version. @type {typeof open} */
export const openLater = folder
    ? (await import(pathToFileURL(join(folder, 'dist/node/tabacus.js')).href)).open
    : open;

/** The options of an emulated tab in which `openLater()` opens a tab of the later version. */
export const laterPage = folder ? {} : { recordFormat: 2 };

/** @param {Origin} origin */
export async function openPresent(origin) {
    const page = origin.openTab();
    const tab = await open({ namespace, window: page.window });
    /** @type {string[]} */
    const warnings = [];
    tab.addEventListener('warning', ({ detail }) => void warnings.push(detail.code));
    tab.addEventListener('storelost', () => void warnings.push('storelost'));
    return { tab, page, warnings };
}

/** @param {Origin} origin */
export async function openRaised(origin) {
    const page = origin.openTab(laterPage);
    const tab = await openLater({ namespace, window: page.window });
    return { tab, page };
}

/** Sleeps for a time of the emulated browser. @param {Page} page @param {number} ms */
export const sleep = (page, ms) => new Promise((resolve) => page.window.setTimeout(resolve, ms));
