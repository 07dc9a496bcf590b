/**
 * A tab of a test, the same for every engine. The driver of its engine evaluates asynchronous expressions to strings,
 * navigates, and closes the tab.
 */

import { countThreads, descendants, isAlive } from './processes.js';
import { until, within } from './waiting.js';

/**
 * @typedef {object} TabDriver
 * @property {(expression: string) => Promise<string>} run  rejects when the tab dies meanwhile
 * @property {() => Promise<void>} close  closes the tab as a user does
 * @property {(url: string) => Promise<void>} navigate  resolves after the load event
 * @property {() => void} [died]  is called when the tab was killed, if the protocol does not report that
 */

/**
 * @typedef {object} BrowserDriver
 * @property {() => number} pid
 * @property {RegExp} contentProcess  the command line of a process that runs pages
 * @property {RegExp} workerThread  the name of a thread that runs a Worker
 */

/** An error that was thrown in a tab, with the properties of a TabacusError. */
export class RemoteError extends Error {
    /** @param {{ name: string, message: string, stack?: string, code?: string | number }} error */
    constructor({ name, message, stack, code }) {
        super(`${name}: ${message}`);
        this.remoteName = name;
        this.code = code;
        this.remoteStack = stack;
    }
}

/**
 * @typedef {{ value?: unknown, error?: ConstructorParameters<typeof RemoteError>[0] }} Answer
 */

/**
 * An expression that calls a function and serialises its outcome by JSON, so that the values of the three protocols
 * cannot differ.
 *
 * @param {string} source  of the function
 * @param {unknown[]} args
 */
const expressionOf = (source, args) => `(async () => {
    try {
        return JSON.stringify({ value: await (${source})(...${JSON.stringify(args)}) });
    } catch (error) {
        const { name, message, stack, code } = Object(error);
        return JSON.stringify({ error: { name, message, stack, code } });
    }
})()`;

export class Tab {
    /** @type {number | undefined} */
    #pid;

    /**
     * @param {TabDriver} driver
     * @param {BrowserDriver} browser
     */
    constructor(driver, browser) {
        this.driver = driver;
        this.browser = browser;
    }

    /**
     * Runs a function in the page, and resolves with its result. The function is sent as source, so it has its
     * arguments and the globals of the page, but no variable of the test.
     *
     * @template {unknown[]} A
     * @template R
     * @param {(...args: A) => R} body
     * @param {A} args
     * @returns {Promise<Awaited<R>>}
     */
    async evaluate(body, ...args) {
        const source = String(body);
        const answer = await within(
            this.driver.run(expressionOf(source, args)),
            `a call in a tab: ${source.slice(0, 200)} of ${JSON.stringify(args)}`,
        );
        /** @type {Answer} */
        const { value, error } = JSON.parse(answer);
        if (error) throw new RemoteError(error);
        return /** @type {Awaited<R>} */ (value);
    }

    /** @param {string} url */
    navigate(url) {
        return within(this.driver.navigate(url), `the load of ${url}`);
    }

    /** @returns {Promise<void>} */
    close() {
        return this.driver.close();
    }

    /**
     * The process that runs the page. It is the one that has another thread while the page has another Worker. The
     * answer is kept, since a page that stays on its origin stays in its process.
     *
     * @returns {Promise<number>}
     */
    async pid() {
        this.#pid ??= await this.#findPid();
        return this.#pid;
    }

    async #findPid() {
        const before = this.#workers();
        await this.evaluate(() => /** @type {any} */ (globalThis).page.startIdleWorker());
        const pid = await until(() => this.#grown(before), 'the thread of a Worker');
        await this.evaluate(() => /** @type {any} */ (globalThis).page.stopIdleWorker());
        await until(() => this.#grown(before) === undefined, 'the end of a Worker');
        return pid;
    }

    /** @returns {Map<number, number>} content process → Workers that it runs */
    #workers() {
        const { contentProcess, workerThread } = this.browser;
        const content = descendants(this.browser.pid()).filter(({ command }) => contentProcess.test(command));
        return new Map(content.map((found) => [found.pid, countThreads(found.pid, workerThread)]));
    }

    /** @param {Map<number, number>} before */
    #grown(before) {
        for (const [pid, workers] of this.#workers()) {
            if (workers > (before.get(pid) ?? 0)) return pid;
        }
    }

    /** Sends SIGKILL to the process of the tab, as the out-of-memory killer of the machine does. */
    async kill() {
        const pid = await this.pid();
        process.kill(pid, 'SIGKILL');
        await until(() => !isAlive(pid), `the end of process ${pid}`);
        this.driver.died?.();
    }
}
