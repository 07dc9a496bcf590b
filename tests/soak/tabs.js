/** The tabs of the soak test in a real browser, and what is made to happen to them. */

import { ChromiumTab } from '../browser/harness/chromium.js';
import { delay, until } from '../browser/harness/waiting.js';
import { seededRandom } from '../browser/page/seeded-random.js';

/** @typedef {import('../browser/harness/tab.js').Tab} Tab */
/** @typedef {import('./schedule.js').Step} Step */
/** @typedef {import('./page/page.js').Commands} Commands */

/** The loops of operations in a page. */
const LOOPS = 3;

/** The time after which pages that are opened use another budget. */
const BUDGET_MS = 120_000;

/** The time that a page needs to end what it has begun: its longest wait, and a store that is silent meanwhile. */
const END_MS = 60_000;

/**
 * Calls a command of a page. Runs in the page.
 *
 * @param {string} name
 * @param {unknown[]} args
 * @returns {any}
 */
const callPage = (name, args) => /** @type {any} */ (globalThis).soak[name](...args);

/**
 * @template {keyof Commands} K
 * @param {Tab} tab
 * @param {K} name
 * @param {Parameters<Commands[K]>} args
 * @returns {Promise<Awaited<ReturnType<Commands[K]>>>}
 */
export const call = (tab, name, ...args) => tab.evaluate(callPage, name, args);

/** Whether the page has its commands. Runs in the page. */
const isReady = () => 'soak' in globalThis;

/** What each engine's driver can make happen. WebKit's automation ends with the first process that stops or dies. */
const EVERYWHERE = [
    'close',
    'reload',
    'leave',
    'hang',
    'killConnections',
    'closeConnections',
    'silenceConnections',
    'delayOpenings',
];
/** @type {Record<string, ReadonlySet<string>>} */
export const POSSIBLE = {
    Chromium: new Set([...EVERYWHERE, 'crash', 'freeze', 'suspend']),
    Firefox: new Set([...EVERYWHERE, 'crash', 'suspend']),
    WebKit: new Set(EVERYWHERE.filter((what) => what !== 'hang')),
};

/**
 * A place for one tab after another.
 *
 * @typedef {object} Place
 * @property {number} index
 * @property {number} pages  how many pages it has shown
 * @property {string} page  the name of the present page in the log
 * @property {string} address  of the package that the present page uses
 * @property {Tab} tab
 * @property {boolean} busy  whether something happens to it
 */

export class Tabs {
    /** @type {Place[]} */
    places = [];
    /** The process of a page is found by its threads, for one page at a time. @type {Promise<unknown>} */
    #opening = Promise.resolve();
    #since_ms = performance.now();
    /** The names of all budgets. @type {Set<string>} */
    budgets = new Set();

    /**
     * @param {object} options
     * @param {import('../browser/harness/engines.js').Browser} options.browser
     * @param {string} options.url  the address of the page
     * @param {string} options.namespace
     * @param {import('./event-log.js').EventLog} options.log
     * @param {boolean} options.kills  whether processes of pages are stopped or killed
     * @param {import('./packages.js').Packages} options.packages
     */
    constructor({ browser, url, namespace, log, kills, packages }) {
        this.browser = browser;
        this.url = url;
        this.namespace = namespace;
        this.log = log;
        this.kills = kills;
        this.packages = packages;
    }

    /** The package of the next page of a place. The first pages use all of them in turn. @param {Place} place @param {number} seed */
    #addressFor({ index, pages }, seed) {
        const { addresses } = this.packages;
        const at = index === 0 || pages > 0 ? seededRandom(seed)(addresses.length) : index + 1;
        return String(index === 0 ? addresses.at(-1) : addresses[at % addresses.length]);
    }

    /** Whether the calls of a page may fail because another tab is of a later version. @param {Place} place */
    #mayBeRefused({ address }) {
        return this.packages.refuses && address !== this.packages.addresses.at(-1);
    }

    /** One place for each package that can read everything. */
    readers() {
        const places = this.places.filter((place) => !this.#mayBeRefused(place));
        return new Map(places.toReversed().map((place) => [place.address, place])).values();
    }

    /** Opens a tab for a new place, and starts its page. @param {number} seed */
    async add(seed) {
        const index = this.places.length;
        const place = {
            index,
            pages: 0,
            page: '',
            address: '',
            tab: await this.#openTab(index),
            busy: false,
        };
        this.places.push(place);
        await this.#start(place, seed);
    }

    /** Opens a tab whose page is not started. Every second one counts as visible, where the driver can do that. @param {number} index */
    #openTab(index) {
        const opened = this.#opening.then(async () => {
            const tab = await this.browser.openTab(this.url);
            if (index % 2 === 0 && tab instanceof ChromiumTab)
                await tab.send('Emulation.setFocusEmulationEnabled', { enabled: true });
            // The memory of the first place is measured.
            if (this.kills || index === 0) await tab.pid();
            return tab;
        });
        this.#opening = opened.catch(() => {});
        return opened;
    }

    /** Starts the page of a place. @param {Place} place @param {number} seed */
    async #start(place, seed) {
        place.address = this.#addressFor(place, seed);
        place.page = `${place.index}.${++place.pages}`;
        const { page, tab, index, address } = place;
        this.log.append({ type: 'package', page, address, mayBeRefused: this.#mayBeRefused(place) });
        const handles = index === 0 || seed % 4 > 0;
        const budget = `budget-${Math.floor((performance.now() - this.#since_ms) / BUDGET_MS)}`;
        this.budgets.add(budget);
        const { lacks } = this.packages;
        const options = { namespace: this.namespace, ...this.packages.options };
        await call(tab, 'start', { page, address, options, lacks, budget, seed, loops: LOOPS, handles });
    }

    /** Writes that the page of a place ends. @param {Place} place */
    #end({ page }) {
        this.log.append({ type: 'gone', page });
    }

    /**
     * Makes something happen. Does nothing to a tab to which something happens already.
     *
     * @param {Step} step
     * @returns {Promise<boolean>} whether it happened
     */
    async happen(step) {
        const place = this.places[step.tab];
        if (!place || place.busy) return false;
        place.busy = true;
        this.log.append({ type: 'step', page: place.page, what: step.what });
        await this[step.what](place, step);
        place.busy = false;
        return true;
    }

    /** @param {Place} place @param {Step} step */
    async close(place, { seed }) {
        this.#end(place);
        await place.tab.close();
        place.tab = await this.#openTab(place.index);
        await this.#start(place, seed);
    }

    /** @param {Place} place @param {Step} step */
    async crash(place, { seed }) {
        this.#end(place);
        await place.tab.kill();
        await place.tab.close().catch(() => {});
        place.tab = await this.#openTab(place.index);
        await this.#start(place, seed);
    }

    /** @param {Place} place @param {Step} step */
    async reload(place, { seed }) {
        this.#end(place);
        await this.#load(place.tab);
        await this.#start(place, seed);
    }

    /** Loads the page in a tab. WebKit's driver answers before the scripts of the page have run. @param {Tab} tab */
    async #load(tab) {
        await tab.navigate(this.url);
        await until(() => tab.evaluate(isReady).catch(() => false), 'the page of the test');
    }

    /** @param {Place} place @param {Step} step */
    async leave(place, { duration_ms, seed }) {
        this.log.append({ type: 'disturbed', page: place.page });
        const { tab } = place;
        await tab.navigate(this.url.replace('index.html', 'away.html'));
        await delay(duration_ms);
        if (tab instanceof ChromiumTab) await tab.go(-1);
        else await this.#load(tab);
        if (await tab.evaluate(() => /** @type {any} */ (globalThis).soak.isStarted()))
            return this.log.append({ type: 'calm', page: place.page });
        this.#end(place);
        await this.#start(place, seed);
    }

    /** @param {Place} place @param {Step} step */
    async freeze(place, { duration_ms }) {
        const tab = /** @type {ChromiumTab} */ (place.tab);
        await this.#disturb(place, async () => {
            await tab.send('Page.setWebLifecycleState', { state: 'frozen' });
            await delay(duration_ms);
            await tab.send('Page.setWebLifecycleState', { state: 'active' });
        });
    }

    /** @param {Place} place @param {Step} step */
    async suspend(place, { duration_ms }) {
        const pid = await place.tab.pid();
        await this.#disturb(place, async () => {
            process.kill(pid, 'SIGSTOP');
            await delay(duration_ms);
            process.kill(pid, 'SIGCONT');
        });
    }

    /** @param {Place} place @param {Step} step */
    async hang(place, { duration_ms }) {
        await this.#disturb(place, async () => {
            await call(place.tab, 'hang', duration_ms);
            await delay(duration_ms);
        });
    }

    /** Waits after `body` until the page answers again. @param {Place} place @param {() => Promise<void>} body */
    async #disturb({ page, tab }, body) {
        this.log.append({ type: 'disturbed', page });
        await body();
        await tab.evaluate(() => true);
        this.log.append({ type: 'calm', page });
    }

    /** @param {Place} place */
    killConnections = (place) => this.#fault(place, 'killConnections');
    /** @param {Place} place */
    closeConnections = (place) => this.#fault(place, 'closeConnections');
    /** @param {Place} place */
    silenceConnections = (place) => this.#fault(place, 'silenceConnections');
    /** @param {Place} place @param {Step} step */
    delayOpenings = (place, { duration_ms }) => this.#fault(place, 'delayOpenings', duration_ms);

    /**
     * @param {Place} place
     * @param {'killConnections' | 'closeConnections' | 'silenceConnections' | 'delayOpenings'} what
     * @param {[]|[number]} args
     */
    async #fault({ page, tab }, what, ...args) {
        this.log.append({ type: 'fault', page });
        await tab.evaluate(callPage, what, args);
    }

    /** Stops the loops of all pages, and waits until they have ended. */
    async stop() {
        for (const { tab } of this.places) await call(tab, 'stop');
        for (const { tab } of this.places)
            await until(
                async () => (await call(tab, 'running')) === 0,
                'the end of operations',
                END_MS,
            ).catch(
                () => {}, // the checker finds the operations that have not ended
            );
    }
}
