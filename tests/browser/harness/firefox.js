/**
 * Firefox, driven by WebDriver BiDi through Puppeteer. This file starts it, because Puppeteer would remove the
 * preferences of the profile some time after the browser is killed, when the next one already uses them.
 */

import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import puppeteer from 'puppeteer-core';

import { ended, killGroup, startGroup, temporaryFolder } from './processes.js';
import { Tab } from './tab.js';
import { within } from './waiting.js';

/** @typedef {import('./engines.js').LaunchOptions} LaunchOptions */

/**
 * Tabs of one origin share a process unless their kind of process may exist more than once: Gecko
 * looks for `dom.ipc.processCount.` followed by the kind (ContentParent::GetMaxProcessCount). Ours
 * are `webIsolated`, or `webCOOP+COEP` when cross-origin isolated. harness.test.js checks that each tab has a process
 * of its own.
 */
const PREFS = {
    'dom.ipc.processCount': 8,
    'dom.ipc.processCount.webIsolated': 8,
    'dom.ipc.processCount.webCOOP+COEP': 8,
    // Processes and pages that are kept ready, and animated tabs, take a sixth of the processor's time.
    'dom.ipc.processPrelaunch.enabled': false,
    'browser.newtab.preload': false,
    'ui.prefersReducedMotion': 1,
    // A tab whose process was killed stays as it is. The browser asks nothing and restores nothing.
    'browser.tabs.crashReporting.sendReport': false,
    'browser.sessionstore.resume_from_crash': false,
    'toolkit.startup.max_resumed_crashes': -1,
    'browser.shell.checkDefaultBrowser': false,
    'browser.startup.page': 0,
    'browser.startup.homepage_override.mstone': 'ignore',
    'browser.aboutwelcome.enabled': false,
    'app.update.disabledForTesting': true,
    'app.normandy.enabled': false,
    'datareporting.policy.dataSubmissionEnabled': false,
    'datareporting.healthreport.uploadEnabled': false,
    'network.captive-portal-service.enabled': false,
    'network.connectivity-service.enabled': false,
    'extensions.update.enabled': false,
};

class FirefoxBrowser {
    contentProcess = /-contentproc .*\btab\s*$/;
    workerThread = /^DOM Worker/;

    /**
     * @param {import('node:child_process').ChildProcess} child
     * @param {import('puppeteer-core').Browser} bidi
     * @param {() => Promise<void>} forget
     */
    constructor(child, bidi, forget) {
        this.child = child;
        this.bidi = bidi;
        this.forget = forget;
    }

    pid() {
        return this.child.pid ?? 0;
    }

    /** @param {string} url */
    async openTab(url) {
        const page = await within(this.bidi.newPage(), 'a new tab');
        const tab = new Tab(driverOf(page), this);
        await tab.navigate(url);
        return tab;
    }

    /** Sends SIGKILL to every process of the browser at once. The profile stays. */
    kill() {
        return killGroup(this.child);
    }

    /** Kills the browser too, since nothing needs the data that it would write if it were closed. */
    async close() {
        await this.kill();
        await this.forget();
    }
}

/**
 * The driver of a tab. A BiDi call into a killed process may never be answered, so each call also ends with the tab,
 * of whose end Puppeteer notifies the page object.
 *
 * @param {import('puppeteer-core').Page} page
 * @returns {import('./tab.js').TabDriver}
 */
function driverOf(page) {
    /** @type {(error: Error) => void} */
    let end = () => {};
    const over = new Promise((_, reject) => (end = reject));
    over.catch(() => {});
    page.on('close', () => end(new Error('the tab died')));
    return {
        run: (expression) => Promise.race([page.evaluate(expression), over]).then(String),
        close: () => page.close(),
        navigate: async (url) => {
            await page.goto(url, { waitUntil: 'load' });
        },
        died: () => end(new Error('the tab died')),
    };
}

/** @param {string} profile */
function writePrefs(profile) {
    const lines = Object.entries(PREFS).map(
        ([name, value]) => `user_pref(${JSON.stringify(name)}, ${JSON.stringify(value)});\n`,
    );
    return writeFile(join(profile, 'user.js'), lines.join(''));
}

/**
 * The address that the browser listens on. The browser chooses a port and writes it to its standard error.
 *
 * @param {import('node:child_process').ChildProcess} child
 * @returns {Promise<string>}
 */
function endpointOf(child) {
    let output = '';
    return new Promise((resolve, reject) => {
        child.stderr?.setEncoding('utf8').on('data', (chunk) => {
            output += chunk;
            const endpoint = /WebDriver BiDi listening on (ws:\S+)/.exec(output)?.[1];
            if (endpoint) resolve(`${endpoint}/session`);
        });
        child.once('error', reject);
        void ended(child).then(() => reject(new Error(`Firefox ended before it was ready: ${output}`)));
    });
}

/**
 * @param {string} executable
 * @param {LaunchOptions} options
 */
export async function launchFirefox(executable, { profile, env = {} }) {
    const folder = profile ? undefined : await temporaryFolder();
    const path = profile ?? folder?.path ?? '';
    await writePrefs(path);
    const args = ['--headless', '--no-remote', '--remote-debugging-port=0', '--profile', path];
    const child = startGroup(executable, args, {
        stdio: ['ignore', 'ignore', 'pipe'],
        env: { ...process.env, ...env },
    });
    const browserWSEndpoint = await within(endpointOf(child), 'the start of Firefox');
    const bidi = await puppeteer.connect({ browserWSEndpoint, protocol: 'webDriverBiDi' });
    return new FirefoxBrowser(child, bidi, async () => folder?.remove());
}
