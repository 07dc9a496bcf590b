/**
 * WebKitGTK: its MiniBrowser on a screen of its own, driven by WebKitWebDriver. When the process of a page dies, WebKit
 * ends the whole automation session (WebPageProxy, dispatchProcessDidTerminate). So a test that kills tabs starts the
 * browser without automation, with pages that read from their address what to do.
 */

import { createServer } from 'node:net';

import {
    descendants,
    ended,
    isAlive,
    killGroup,
    killTree,
    startGroup,
    temporaryFolder,
} from './processes.js';
import { Tab } from './tab.js';
import { until, within } from './waiting.js';
import { WebDriverSession } from './webdriver.js';

/** @typedef {import('./engines.js').LaunchOptions} LaunchOptions */

class WebKitBrowser {
    contentProcess = /WebKitWebProcess/;
    workerThread = /Worker/;
    /** The handle of the empty window, a string. @type {any} */
    #empty;

    /**
     * @param {WebDriverSession} session
     * @param {import('node:child_process').ChildProcess} driver
     * @param {() => Promise<void>} forget
     */
    constructor(session, driver, forget) {
        this.session = session;
        this.driver = driver;
        this.forget = forget;
    }

    /** The process of the driver. It starts the browser, so that all processes of the browser descend from it. */
    pid() {
        return this.driver.pid ?? 0;
    }

    /** @param {string} url */
    async openTab(url) {
        const tab = new Tab(driverOf(this.session, await this.#newWindow()), this);
        await tab.navigate(url);
        // Another process than that of the empty page may load the page, so it may not be loaded yet.
        await until(() => isLoaded(tab), `the load of ${url}`);
        return tab;
    }

    /**
     * Opens a window. The first window of a session stays empty, because a session ends with its last window.
     *
     * @returns {Promise<string>}
     */
    async #newWindow() {
        const empty = (this.#empty ??= await this.session.send('/window'));
        const request = /** @type {const} */ ({ method: 'POST', body: { type: 'window' } });
        // Opening a window requires that an open one is the current window.
        const { handle } = await this.session.sendTo(empty, '/window/new', request);
        return handle;
    }

    async kill() {
        const pid = this.pid();
        killTree(pid);
        await until(() => !isAlive(pid), 'the end of WebKit');
        await killGroup(this.driver);
    }

    async close() {
        await this.kill();
        await this.forget();
    }
}

/** @param {Tab} tab */
const isLoaded = (tab) =>
    tab
        .evaluate(() => location.href !== 'about:blank' && document.readyState === 'complete')
        .catch(() => false);

/** The interval at which a window is asked whether its script has ended. */
const POLL_MS = 10;

/**
 * The driver of a window. A script that waits would delay the commands of the other windows, so the driver starts it
 * and then polls its result.
 *
 * @param {WebDriverSession} session
 * @param {string} window
 * @returns {import('./tab.js').TabDriver}
 */
function driverOf(session, window) {
    let dead = false;
    let lastId = 0;
    /** @param {string} script */
    const execute = async (script) => {
        if (dead) throw new Error('the tab died');
        const body = { script, args: [] };
        return session.sendTo(window, '/execute/sync', { method: 'POST', body });
    };
    return {
        run: async (expression) => {
            const id = ++lastId;
            await execute(`(globalThis.results ??= {})[${id}] = null;
                ${expression}.then((text) => { globalThis.results[${id}] = text; });`);
            for (;;) {
                const text = await execute(`const text = globalThis.results[${id}];
                    if (text !== null) delete globalThis.results[${id}];
                    return text;`);
                if (text !== null) return text;
                await new Promise((resolve) => setTimeout(resolve, POLL_MS));
            }
        },
        close: async () => {
            dead = true;
            await session.sendTo(window, '/window', { method: 'DELETE' });
        },
        navigate: (url) => session.sendTo(window, '/url', { method: 'POST', body: { url } }),
    };
}

/** @returns {Promise<number>} a port that was free when it was chosen */
function freePort() {
    return new Promise((resolve, reject) => {
        const server = createServer().once('error', reject);
        server.listen(0, '127.0.0.1', () => {
            const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
            server.close(() => resolve(port));
        });
    });
}

/**
 * Starts Xvfb. It chooses its number and writes it to the descriptor that -displayfd names.
 *
 * @param {string} executable
 */
async function startScreen(executable) {
    const screen = startGroup(
        executable,
        ['-displayfd', '3', '-screen', '0', '1280x800x24', '-nolisten', 'tcp'],
        {
            stdio: ['ignore', 'ignore', 'ignore', 'pipe'],
        },
    );
    const output = /** @type {import('node:stream').Readable} */ (screen.stdio[3]);
    const number = await within(
        new Promise((resolve, reject) => {
            output.once('data', (data) => resolve(String(data).trim()));
            ended(screen).then(() => reject(new Error('Xvfb ended before it chose a screen')));
        }),
        'the start of Xvfb',
    );
    return { screen, display: `:${number}` };
}

/**
 * @param {string} home  the folder of its data
 * @param {string} display
 * @param {Record<string, string>} env
 */
const environment = (home, display, env) => ({
    ...process.env,
    DISPLAY: display,
    GDK_BACKEND: 'x11',
    LIBGL_ALWAYS_SOFTWARE: '1',
    WEBKIT_DISABLE_COMPOSITING_MODE: '1',
    XDG_DATA_HOME: `${home}/data`,
    XDG_CACHE_HOME: `${home}/cache`,
    XDG_CONFIG_HOME: `${home}/config`,
    ...env,
});

/** @typedef {{ driver: string, browser: string, screen: string }} Executables */

/**
 * @param {Executables} executables
 * @param {LaunchOptions} options
 */
export async function launchWebKit(executables, { profile, env = {} }) {
    const folder = profile ? undefined : await temporaryFolder();
    const { screen, display } = await startScreen(executables.screen);
    const port = await freePort();
    const driver = startGroup(executables.driver, [`--port=${port}`], {
        env: environment(profile ?? folder?.path ?? '', display, env),
    });
    const server = `http://127.0.0.1:${port}`;
    await until(
        () =>
            fetch(`${server}/status`).then(
                ({ ok }) => ok,
                () => false,
            ),
        'WebKitWebDriver',
    );
    const session = await WebDriverSession.start(server, {
        'webkitgtk:browserOptions': { binary: executables.browser, args: ['--automation'] },
    });
    return new WebKitBrowser(session, driver, async () => {
        await killGroup(screen);
        await folder?.remove();
    });
}

/**
 * Launches the browser without automation, with one tab for each address.
 *
 * @param {Executables} executables
 * @param {{ profile: string, urls: string[], env?: Record<string, string> }} options
 */
export async function launchUndriven(executables, { profile, urls, env = {} }) {
    const { screen, display } = await startScreen(executables.screen);
    const browser = startGroup(executables.browser, urls, {
        env: environment(profile, display, env),
    });
    const pid = browser.pid ?? 0;
    /** @param {RegExp} name */
    const pidsOf = (name) =>
        descendants(pid)
            .filter(({ command }) => name.test(command))
            .map((found) => found.pid);
    return {
        /** The identifiers of the processes that run its pages. */
        contentPids: () => pidsOf(/WebKitWebProcess/),
        /** The identifier of the process that has its IndexedDB and its Web Locks, or 0 if none runs. */
        networkPid: () => pidsOf(/WebKitNetworkProcess/)[0] ?? 0,
        async kill() {
            killTree(pid);
            await killGroup(browser);
            await killGroup(screen);
        },
    };
}
