/** The actions of a user on a page, and what a user sees on it. */

import { mkdir, writeFile } from 'node:fs/promises';

import { ChromiumTab } from './chromium.js';

/** @typedef {import('./tab.js').Tab} Tab */

const SCREENSHOTS = new URL('../../../build/screenshots/', import.meta.url);

/** @param {Tab} tab @param {string} selector */
export const text = (tab, selector) =>
    tab.evaluate((at) => document.querySelector(at)?.textContent?.trim() ?? '', selector);

/** @param {Tab} tab @param {string} selector */
export const click = (tab, selector) =>
    tab.evaluate((at) => {
        const button = document.querySelector(at);
        if (!(button instanceof HTMLButtonElement)) throw new Error(`${at} is no button of the page`);
        if (button.disabled) throw new Error(`${at} is disabled`);
        button.click();
    }, selector);

/** @param {Tab} tab @param {string} selector @param {string} value */
export const choose = (tab, selector, value) =>
    tab.evaluate(
        (at, chosen) => {
            const select = document.querySelector(at);
            if (!(select instanceof HTMLSelectElement))
                throw new Error(`${at} is no select element of the page`);
            select.value = chosen;
            select.dispatchEvent(new Event('change', { bubbles: true }));
        },
        selector,
        value,
    );

/** @param {Tab} tab @param {string} selector */
export const enabled = (tab, selector) =>
    tab.evaluate((at) => document.querySelector(at)?.matches(':enabled') ?? false, selector);

/**
 * The numbers that the <data> elements within an element show, by their roles.
 *
 * @param {Tab} tab @param {string} selector
 * @returns {Promise<Record<string, number>>}
 */
export const numbersIn = (tab, selector) =>
    tab.evaluate((at) => {
        const all = [...document.querySelectorAll(`${at} data[data-role]`)];
        return Object.fromEntries(
            all.map((data) => [data.getAttribute('data-role') ?? '', Number(data.getAttribute('value'))]),
        );
    }, selector);

/** Saves a screenshot, if the tab is one of Chromium. @param {Tab} tab @param {string} name @param {object} [screen] */
export async function shoot(tab, name, screen) {
    if (!(tab instanceof ChromiumTab)) return;
    await mkdir(SCREENSHOTS, { recursive: true });
    await writeFile(new URL(`${name}.png`, SCREENSHOTS), await tab.screenshot(screen));
}
