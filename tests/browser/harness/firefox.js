/** Firefox, driven by WebDriver BiDi through Puppeteer. */

import puppeteer from 'puppeteer-core';

import { isAlive, killTree, temporaryFolder } from './processes.js';
import { Tab } from './tab.js';
import { until, within } from './waiting.js';

/** @typedef {import('./engines.js').LaunchOptions} LaunchOptions */

/**
 * Tabs of one origin share a process unless their kind of process may exist more than once: Gecko
 * looks for `dom.ipc.processCount.` followed by the kind (ContentParent::GetMaxProcessCount). Ours
 * are `webIsolated`, or `webCOOP+COEP` when cross-origin isolated. Seen to hold: the harness's own
 * test finds a process of its own for each tab.
 */
const PREFS = {
    'dom.ipc.processCount': 8,
    'dom.ipc.processCount.webIsolated': 8,
    'dom.ipc.processCount.webCOOP+COEP': 8,
    'dom.ipc.processPrelaunch.enabled': false,
    'dom.ipc.keepProcessesAlive.webIsolated.max': 0,
    'dom.ipc.keepProcessesAlive.webCOOP+COEP': 0,
    // A tab whose process was killed stays as it is; the browser asks and restores nothing.
    'browser.tabs.crashReporting.sendReport': false,
    'browser.sessionstore.resume_from_crash': false,
    'toolkit.startup.max_resumed_crashes': -1,
    'browser.shell.checkDefaultBrowser': false,
    'datareporting.policy.dataSubmissionEnabled': false,
};

class FirefoxBrowser {
    contentProcess = /-contentproc .*\btab\s*$/;
    workerThread = /^DOM Worker/;

    /**
     * @param {import('puppeteer-core').Browser} browser
     * @param {() => Promise<void>} forget
     */
    constructor(browser, forget) {
        this.browser = browser;
        this.forget = forget;
    }

    pid() {
        return this.browser.process()?.pid ?? 0;
    }

    /** @param {string} url */
    async openTab(url) {
        const page = await this.browser.newPage();
        const tab = new Tab(driverOf(page), this);
        await tab.navigate(url);
        return tab;
    }

    async kill() {
        const pid = this.pid();
        killTree(pid);
        await until(() => !isAlive(pid), 'the end of Firefox');
    }

    async close() {
        await within(this.browser.close(), 'the end of Firefox', 10_000).catch(() => {});
        await this.kill();
        await this.forget();
    }
}

/**
 * A BiDi call into a process that was killed may never be answered, so each is bound to the tab's
 * end as well, of which the page hears.
 *
 * @param {import('puppeteer-core').Page} page
 * @returns {import('./tab.js').TabDriver}
 */
function driverOf(page) {
    /** @type {(error: Error) => void} */
    let die = () => {};
    const death = new Promise((_, reject) => (die = reject));
    death.catch(() => {});
    page.on('close', () => die(new Error('the tab died')));
    return {
        run: (expression) => Promise.race([page.evaluate(expression), death]).then(String),
        close: () => page.close(),
        navigate: async (url) => {
            await page.goto(url, { waitUntil: 'load' });
        },
        died: () => die(new Error('the tab died')),
    };
}

/**
 * @param {string} executable
 * @param {LaunchOptions} options
 */
export async function launchFirefox(executable, { profile, env = {} }) {
    const folder = profile ? undefined : await temporaryFolder();
    const browser = await puppeteer.launch({
        browser: 'firefox',
        executablePath: executable,
        headless: true,
        userDataDir: profile ?? folder?.path,
        env: { ...process.env, ...env },
        extraPrefsFirefox: PREFS,
        protocolTimeout: 60_000,
        // The harness ends what it started, in its own order.
        handleSIGINT: false,
        handleSIGTERM: false,
        handleSIGHUP: false,
    });
    return new FirefoxBrowser(browser, async () => folder?.remove());
}
