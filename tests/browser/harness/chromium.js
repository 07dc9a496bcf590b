/** Chromium, driven by the DevTools protocol over a pipe. */

import { once } from 'node:events';

import { CdpConnection } from './cdp.js';
import { killGroup, startGroup, temporaryFolder } from './processes.js';
import { Tab } from './tab.js';
import { until, within } from './waiting.js';

/** @typedef {import('./engines.js').LaunchOptions} LaunchOptions */

/**
 * ProcessPerSiteUpToMainFrameThreshold would put tabs of one site into one process, and a spare renderer costs time
 * for nothing. The pop-ups of the address bar are web pages in a renderer that is notified of every tab: without them
 * a tab takes three fifths of the processor's time.
 */
const FEATURES_OFF = [
    'ProcessPerSiteUpToMainFrameThreshold',
    'SpareRendererForSitePerProcess',
    'WebUIOmniboxPopup',
    'WebUIOmniboxAimPopup',
    'Translate',
    'MediaRouter',
    'OptimizationHints',
];

/**
 * The back/forward cache keeps its defaults. No page enters it on a machine that looks short of memory, so the memory
 * saver is off. The first page is blank, because the page for new tabs would cost time for nothing.
 */
const FLAGS = [
    '--headless=new',
    '--no-sandbox',
    '--disable-gpu',
    '--disable-quic',
    '--no-first-run',
    '--no-default-browser-check',
    '--disable-background-networking',
    '--disable-component-update',
    '--disable-sync',
    '--disable-breakpad',
    '--disable-dev-shm-usage',
    '--disable-extensions',
    `--disable-features=${FEATURES_OFF.join(',')}`,
    '--password-store=basic',
    '--use-mock-keychain',
    '--remote-debugging-pipe',
    'about:blank',
];

export class ChromiumTab extends Tab {
    /**
     * @param {ChromiumBrowser} browser
     * @param {string} target
     * @param {string} session
     */
    constructor(browser, target, session) {
        super(
            {
                run: async (expression) => {
                    const { result, exceptionDetails } = await browser.cdp.send(
                        'Runtime.evaluate',
                        { expression, awaitPromise: true, returnByValue: true },
                        session,
                    );
                    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description);
                    return result.value;
                },
                close: () => browser.closeTarget(target),
                navigate: (url) => this.#navigate(url),
            },
            browser,
        );
        this.chromium = browser;
        this.session = session;
    }

    /**
     * @param {string} method
     * @param {Record<string, any>} [params]
     */
    send(method, params) {
        return within(this.chromium.cdp.send(method, params, this.session), method);
    }

    /**
     * @param {string} method
     * @param {(params: Record<string, any>) => boolean} [accept]
     */
    event(method, accept = () => true) {
        const received = this.chromium.cdp.event(
            method,
            (params, session) => session === this.session && accept(params),
        );
        return within(received, method);
    }

    /** @param {string} url */
    async #navigate(url) {
        const loaded = this.event('Page.loadEventFired');
        loaded.catch(() => {});
        const { errorText } = await this.send('Page.navigate', { url });
        if (errorText) throw new Error(`${url}: ${errorText}`);
        await loaded;
    }

    /** Whether the tab shows a page. A context that is replaced during the question does not count. */
    isLoaded() {
        return this.evaluate(
            () => location.href !== 'about:blank' && document.readyState === 'complete',
        ).catch(() => false);
    }

    /**
     * Goes back or forward in the tab's history, out of the back/forward cache if the page is in it.
     *
     * @param {-1 | 1} step
     */
    async go(step) {
        const { currentIndex, entries } = await this.send('Page.getNavigationHistory');
        const { id } = entries[currentIndex + step];
        const navigated = this.event('Page.frameNavigated', ({ frame }) => !frame.parentId);
        navigated.catch(() => {});
        await this.send('Page.navigateToHistoryEntry', { entryId: id });
        await navigated;
        await until(() => this.isLoaded(), 'the page of the history');
    }

    /**
     * @param {{ dark?: boolean, width?: number, height?: number, mobile?: boolean }} [screen]
     * @returns {Promise<Buffer>} a PNG of the whole page
     */
    async screenshot({ dark = false, width = 1280, height = 900, mobile = false } = {}) {
        // A tab in the background paints nothing.
        await this.send('Page.bringToFront');
        const value = dark ? 'dark' : 'light';
        const features = [{ name: 'prefers-color-scheme', value }];
        await this.send('Emulation.setEmulatedMedia', { features });
        const metrics = { width, height, mobile, deviceScaleFactor: mobile ? 2 : 1 };
        await this.send('Emulation.setDeviceMetricsOverride', metrics);
        // The colours fade into those of the other scheme.
        await this.evaluate(async () => {
            await new Promise((resolve) => requestAnimationFrame(resolve));
            await Promise.all(document.getAnimations().map(({ finished }) => finished));
        });
        const { data } = await this.send('Page.captureScreenshot', { captureBeyondViewport: true });
        return Buffer.from(data, 'base64');
    }

    /**
     * The unwanted lines of the console: errors, warnings, violated policies. Earlier lines are among them, since
     * enabling a domain reports them again.
     *
     * @returns {Promise<string[]>} a list that grows as lines are logged
     */
    async console() {
        /** @type {string[]} */
        const lines = [];
        this.chromium.cdp.onEvent(({ session, method, params }) => {
            const problem = session === this.session && problemOf(method, params);
            if (problem) lines.push(problem);
        });
        for (const domain of ['Log', 'Runtime']) {
            await this.send(`${domain}.disable`);
            await this.send(`${domain}.enable`);
        }
        return lines;
    }
}

/**
 * @param {string} method
 * @param {Record<string, any>} params
 * @returns {string | undefined}
 */
function problemOf(method, params) {
    if (method === 'Runtime.exceptionThrown') {
        const { exception, text } = params.exceptionDetails;
        return exception?.description ?? text;
    }
    if (method === 'Log.entryAdded') {
        const { level, text, url = '' } = params.entry;
        return ['error', 'warning'].includes(level) ? `${level}: ${text} ${url}` : undefined;
    }
    if (method === 'Runtime.consoleAPICalled' && ['error', 'warning'].includes(params.type)) {
        return params.args.map((/** @type {any} */ arg) => arg.value ?? arg.description).join(' ');
    }
}

export class ChromiumBrowser {
    contentProcess = /--type=renderer/;
    workerThread = /^DedicatedWorker/;

    /**
     * @param {import('node:child_process').ChildProcess} child
     * @param {CdpConnection} cdp
     * @param {() => Promise<void>} forget
     */
    constructor(child, cdp, forget) {
        this.child = child;
        this.cdp = cdp;
        this.forget = forget;
    }

    pid() {
        return this.child.pid ?? 0;
    }

    /**
     * Opens a tab. The address is part of the request, because a Page.navigate after it would race with the load of
     * about:blank and lose (ERR_ABORTED). Console lines from before the listener are reported again.
     *
     * @param {string} url
     */
    async openTab(url) {
        const { targetId } = await this.cdp.send('Target.createTarget', { url });
        const { sessionId } = await this.cdp.send('Target.attachToTarget', {
            targetId,
            flatten: true,
        });
        const tab = new ChromiumTab(this, targetId, sessionId);
        for (const domain of ['Page', 'Runtime', 'Inspector', 'Log']) {
            await tab.send(`${domain}.enable`);
        }
        await until(() => tab.isLoaded(), `the load of ${url}`);
        return tab;
    }

    /** @param {string} targetId */
    async closeTarget(targetId) {
        const gone = this.cdp.event('Target.targetDestroyed', (event) => event.targetId === targetId);
        await this.cdp.send('Target.closeTarget', { targetId });
        await within(gone, 'the end of a tab');
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

/** @param {string} extension  the folder of the only extension */
const flagsWith = (extension) =>
    FLAGS.map((flag) =>
        flag === '--disable-extensions' ? `--disable-extensions-except=${extension}` : flag,
    ).concat(`--load-extension=${extension}`);

/**
 * @param {string} executable
 * @param {LaunchOptions} options
 */
export async function launchChromium(executable, { profile, env = {}, extension }) {
    const folder = profile ? undefined : await temporaryFolder();
    const flags = extension ? flagsWith(extension) : FLAGS;
    const child = startGroup(executable, [...flags, `--user-data-dir=${profile ?? folder?.path}`], {
        stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
        env: { ...process.env, ...env },
    });
    const cdp = new CdpConnection(
        /** @type {import('node:stream').Writable} */ (child.stdio[3]),
        /** @type {import('node:stream').Readable} */ (child.stdio[4]),
    );
    const failed = once(child, 'error').then(([error]) => Promise.reject(error));
    failed.catch(() => {});
    await within(
        Promise.race([cdp.send('Target.setDiscoverTargets', { discover: true }), failed]),
        'the start of Chromium',
    );
    return new ChromiumBrowser(child, cdp, async () => folder?.remove());
}
