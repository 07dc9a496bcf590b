/**
 * The engines, behind one interface. The suites of a missing engine are listed as skipped, with the packages to
 * install, and a line on stderr repeats it.
 *
 *     TABACUS_ENGINES=chromium,webkit   runs only these engines
 */

import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe } from 'node:test';

import { launchChromium } from './chromium.js';
import { launchFirefox } from './firefox.js';
import { launchUndriven, launchWebKit } from './webkit.js';

/**
 * @typedef {object} LaunchOptions
 * @property {string} [profile]  a folder that outlives the browser; by default a temporary one
 * @property {Record<string, string>} [env]
 * @property {string} [extension]  the folder of an extension to load (Chromium)
 */

/**
 * @typedef {object} Browser
 * @property {(url: string) => Promise<import('./tab.js').Tab>} openTab
 * @property {() => Promise<void>} kill  sends SIGKILL to all its processes; close() must be called nevertheless
 * @property {() => Promise<void>} close
 * @property {() => number} pid
 */

/**
 * @typedef {object} Engine
 * @property {string} name
 * @property {number} tabs  the number of tabs that its counting tests open
 * @property {string | undefined} missing  what this machine lacks for it, as text
 * @property {(options?: LaunchOptions) => Promise<Browser>} launch
 */

/** @param {string[]} names  commands, or absolute paths */
function find(...names) {
    const folders = (process.env.PATH ?? '').split(delimiter);
    return names
        .flatMap((name) => (name.startsWith('/') ? [name] : folders.map((at) => join(at, name))))
        .find((path) => existsSync(path));
}

const chromium = find(
    ...(process.env.CHROME_BIN ? [process.env.CHROME_BIN] : []),
    'chromium',
    'chromium-browser',
    'google-chrome',
);
const firefox = find('firefox-esr', 'firefox');
const driver = find('WebKitWebDriver');
const miniBrowser = find(
    'MiniBrowser',
    ...['x86_64', 'aarch64'].flatMap((machine) =>
        ['4.1', '6.0', '4.0'].map((api) => `/usr/lib/${machine}-linux-gnu/webkit2gtk-${api}/MiniBrowser`),
    ),
);
const screen = find('Xvfb');

/** @type {Engine} */
const CHROMIUM = {
    name: 'Chromium',
    tabs: 3,
    missing: chromium ? undefined : 'chromium is missing (Debian: apt-get install chromium)',
    launch: (options = {}) => launchChromium(chromium ?? '', options),
};

/** @type {Engine} */
const FIREFOX = {
    name: 'Firefox',
    tabs: 3,
    missing: firefox ? undefined : 'firefox is missing (Debian: apt-get install firefox-esr)',
    launch: (options = {}) => launchFirefox(firefox ?? '', options),
};

const webKitExecutables = {
    driver: driver ?? '',
    browser: miniBrowser ?? '',
    screen: screen ?? '',
};

/** Shared memory is behind a switch in WebKitGTK. */
const SHARED_MEMORY = { JSC_useSharedArrayBuffer: '1' };

/** @type {Engine} */
const WEBKIT = {
    name: 'WebKit',
    tabs: 2,
    missing:
        driver && miniBrowser && screen
            ? undefined
            : 'WebKitWebDriver, MiniBrowser or Xvfb is missing (Debian: apt-get install webkit2gtk-driver xvfb)',
    launch: ({ env = {}, ...options } = {}) =>
        launchWebKit(webKitExecutables, { ...options, env: { ...SHARED_MEMORY, ...env } }),
};

/** @param {{ profile: string, urls: string[] }} options */
export const launchUndrivenWebKit = (options) =>
    launchUndriven(webKitExecutables, { ...options, env: SHARED_MEMORY });

export const ENGINES = Object.freeze({ chromium: CHROMIUM, firefox: FIREFOX, webkit: WEBKIT });

const chosen = process.env.TABACUS_ENGINES?.split(',');

/**
 * Declares a suite for each of the engines.
 *
 * @param {Engine[]} engines
 * @param {string} claim
 * @param {(engine: Engine) => void} suite
 */
export function describeIn(engines, claim, suite) {
    for (const engine of engines) {
        if (chosen && !chosen.includes(engine.name.toLowerCase())) continue;
        if (engine.missing) console.error(`!!! NOT TESTED in ${engine.name}: ${engine.missing}`);
        describe(`${claim} (${engine.name})`, { skip: engine.missing ?? false }, () => suite(engine));
    }
}
