/** Opens tabs of this version, and of a later one, which stores and sends records in the format 2. */

import { open } from 'tabacus';

/** @typedef {import('tabacus/emulator').Origin} Origin */
/** @typedef {import('tabacus/emulator').Tab} Page */

export const namespace = 'shop';
export const mismatch = { code: 'version-mismatch' };

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
    const page = origin.openTab({ recordFormat: 2 });
    const tab = await open({ namespace, window: page.window });
    return { tab, page };
}

/** Sleeps for a time of the emulated browser. @param {Page} page @param {number} ms */
export const sleep = (page, ms) => new Promise((resolve) => page.window.setTimeout(resolve, ms));
