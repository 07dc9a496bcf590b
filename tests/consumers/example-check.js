/** Uses an example as a person does: opens it in two tabs, and adds and takes the lock in both. */

import { until } from '../browser/harness/waiting.js';

/** @typedef {import('../browser/harness/chromium.js').ChromiumBrowser} Browser */
/** @typedef {import('../browser/harness/chromium.js').ChromiumTab} Tab */

/** The number of adds in each tab. */
const ADDS = 20;

/** A development server may bundle at the first request, and then reload the page, so that a load takes long. */
const LOAD_MS = 60_000;

/** @param {Tab} tab @param {string} id */
const textOf = (tab, id) =>
    tab.evaluate((id) => document.getElementById(id)?.textContent, id).catch(() => undefined);

/**
 * @param {Tab} tab
 * @param {string} id
 * @param {RegExp} wanted
 * @param {string[]} logged
 */
async function shows(tab, id, wanted, logged) {
    let last = '';
    const seen = async () => wanted.test((last = (await textOf(tab, id)) ?? ''));
    await until(seen, `#${id} that shows ${wanted}`, LOAD_MS).catch((/** @type {Error} */ error) => {
        throw new Error(`${error.message}; it shows ${JSON.stringify(last)}. ${logged.join('\n')}`);
    });
}

/** @param {Tab} tab @param {string} id @param {number} times */
const click = (tab, id, times) =>
    tab.evaluate(
        (id, times) => {
            for (let i = 0; i < times; i++) document.getElementById(id)?.click();
        },
        id,
        times,
    );

/**
 * Waits until the page has opened its namespace and its buttons are enabled.
 *
 * @param {Tab} tab
 * @param {string[]} logged
 */
async function ready(tab, logged) {
    await shows(tab, 'count', /^\d+$/, logged);
    const enabled = () =>
        tab.evaluate(() =>
            ['add', 'run'].every((id) => document.getElementById(id)?.hasAttribute('disabled') === false),
        );
    await until(enabled, 'buttons that can be clicked', LOAD_MS);
}

/** Clears the data of an origin, which only the session of a page can do. @param {Browser} browser @param {string} origin */
async function clearData({ cdp }, origin) {
    const { targetId } = await cdp.send('Target.createTarget', { url: 'about:blank' });
    const { sessionId } = await cdp.send('Target.attachToTarget', { targetId, flatten: true });
    await cdp.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' }, sessionId);
    await cdp.send('Target.closeTarget', { targetId });
}

/**
 * Rejects unless the totals of both tabs and of a third one, which is opened later, are exact, and both tabs have held
 * the lock. It clears the origin's data first: the system may give a server the port of an earlier one, and then the
 * origin has the counter of the earlier example.
 *
 * @param {Browser} browser
 * @param {string} url
 */
export async function checkExample(browser, url) {
    if (url.startsWith('http')) await clearData(browser, new URL(url).origin);
    const tabs = [await browser.openTab(url), await browser.openTab(url)];
    const logs = await Promise.all(tabs.map((tab) => tab.console()));
    const both = tabs.map((tab, i) => ({ tab, logged: logs[i] ?? [] }));
    for (const { tab, logged } of both) await ready(tab, logged);
    for (const { tab } of both) await click(tab, 'add', ADDS);
    const total = new RegExp(`^${2 * ADDS}$`);
    for (const { tab, logged } of both) await shows(tab, 'count', total, logged);
    for (const { tab } of both) await click(tab, 'run', 1);
    for (const { tab, logged } of both) await shows(tab, 'lock', /token \d+/, logged);
    const later = await browser.openTab(url);
    await shows(later, 'count', total, await later.console());
    for (const tab of [...tabs, later]) await tab.close();
    return logs.flat();
}

/**
 * The address of the extension that a browser was launched with, taken from its background worker.
 *
 * @param {Browser} browser
 */
export function extensionAddress(browser) {
    return until(async () => {
        const { targetInfos } = await browser.cdp.send('Target.getTargets');
        const worker = targetInfos.find(
            (/** @type {{ type: string, url: string }} */ { type, url }) =>
                type === 'service_worker' && url.startsWith('chrome-extension:'),
        );
        return worker?.url.replace(/\/[^/]*$/, '');
    }, 'the background worker of the extension');
}
