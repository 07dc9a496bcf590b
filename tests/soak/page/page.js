/** A page of the soak test. The test starts it, stops it, and asks at the end what is there: `globalThis.soak`. */

import { databaseFaults } from './database-faults.js';
import { seededRandom } from '../../browser/page/seeded-random.js';
import { COUNTERS, readCounter } from './counters.js';
import { LOCKS, pause, STORE } from './holds.js';
import { CALLS } from './leaders.js';
import { handleJobs, openResults, queueOf } from './jobs.js';
import { BUDGET } from './limits.js';
import { perform, randomKind } from './operations.js';
import { write } from './write.js';

/** @typedef {import('tabacus').Tab} Tab */

/** The pause between two operations of a loop. */
const PAUSE_MOST_MS = 150;

/** @type {Tab | undefined} */
let tab;
/** Aborts when no further operation may begin. */
const stopping = new AbortController();
let running = 0;
let lastOp = 0;

/** @type {string} */
let me = 'a page that was not started';

/** What tabs that die have taken of a budget is never given back, so that later pages have another budget. */
let budget = '';

/** What the packages lack. @type {readonly string[]} */
let lacks = [];

/** @returns {Tab} */
function opened() {
    if (!tab) throw new Error('the page was not started');
    return tab;
}

/** The context of an operation. @param {(below: number) => number} random @returns {import('./operations.js').Context} */
function contextOf(random) {
    const op = `${me}/${++lastOp}`;
    return { tab: opened(), op, random, budget, lacks, write: (event) => write({ page: me, op, ...event }) };
}

/**
 * Performs operations until the page is stopped.
 *
 * @param {(below: number) => number} random
 * @param {(random: (below: number) => number) => string} kindOf  chooses the next one
 */
async function loop(random, kindOf) {
    running++;
    while (!stopping.signal.aborted) {
        await perform(kindOf(random), contextOf(random));
        await pause(random(PAUSE_MOST_MS));
    }
    running--;
}

/** Reports what nobody caught. @param {unknown} reason */
const reportUncaught = (reason) =>
    void write({ type: 'uncaught', page: me, message: String(reason) }).catch(() => {});

/** @type {Worker | undefined} */
let idleWorker;

const commands = {
    /**
     * Opens the namespace by a package, and begins the loops.
     *
     * @param {object} how
     * @param {string} how.page
     * @param {string} how.address  of the package
     * @param {import('tabacus').OpenOptions} how.options
     * @param {string[]} how.lacks  as in ../packages.js
     * @param {string} how.budget
     * @param {number} how.seed
     * @param {number} how.loops
     * @param {boolean} how.handles  whether the page handles jobs
     */
    async start({ page, address, options, lacks: missing, budget: name, seed, loops, handles }) {
        [me, budget, lacks] = [page, name, missing];
        addEventListener('error', ({ message }) => reportUncaught(message));
        addEventListener('unhandledrejection', ({ reason }) => reportUncaught(reason));
        const { open } = await import(address);
        tab = /** @type {Tab} */ (await open(options));
        tab.addEventListener(
            'warning',
            ({ detail }) => void write({ type: 'warning', page: me, ...detail }).catch(() => {}),
        );
        if (handles) {
            const random = seededRandom(seed);
            handleJobs({ tab, random, write: (event) => write({ page: me, ...event }) });
        }
        const kindOf = randomKind(lacks);
        loop(seededRandom(seed * 1000), () => 'lead').catch(reportUncaught);
        for (let index = 1; index <= loops; index++)
            loop(seededRandom(seed * 1000 + index), kindOf).catch(reportUncaught);
    },
    isStarted: () => tab !== undefined,

    /** Begins no further operation. */
    stop() {
        stopping.abort();
    },
    /** The number of loops that have not ended. */
    running: () => running,
    openResults,
    close: () => opened().close(),

    /** Waits until the queue is empty. */
    idle: () => queueOf(opened()).onIdle(),
    queueSize: () => queueOf(opened()).size,

    /** Makes the page busy, so that it answers nothing. @param {number} duration_ms */
    hang(duration_ms) {
        setTimeout(() => {
            const end_ms = performance.now() + duration_ms;
            while (performance.now() < end_ms);
        });
    },

    ...databaseFaults,

    /** Reads all that was acknowledged but budgets, and writes it into the log. */
    async readAll() {
        const random = seededRandom(0);
        for (const name of Object.keys(COUNTERS)) await readCounter(contextOf(random), name);
        for (const name of [...LOCKS, CALLS]) {
            const value = await opened()
                .lock('reader')
                .run((held) => held.commit(STORE, (tx) => tx.get(STORE, name)));
            await write({ type: 'stored', page: me, name, value: value ?? null });
        }
    },

    /**
     * Discards some dead letters. They are as many as one call can discard in time on a busy machine.
     * @returns {Promise<boolean>} whether there may be more
     */
    async discardSome() {
        const letters = await queueOf(opened()).deadLetters();
        for (const { id, error, discard } of letters.slice(0, 20)) {
            await write({ type: 'dead', page: me, job: id, message: String(error) });
            await discard();
        }
        return letters.length > 20;
    },

    /** Takes all that is left of a budget. @param {string} name */
    async drain(name) {
        let n = 0;
        while (await opened().budget(name, { limit: BUDGET }).tryTake(1)) n++;
        await write({ type: 'drained', page: me, name, n });
    },

    /** The sizes of what is stored. @param {string} namespace */
    async sizes(namespace) {
        const { held = [], pending = [] } = await navigator.locks.query();
        const keys = Object.keys(localStorage).filter((key) => key.startsWith(`tabacus/${namespace}/`));
        return { rows: await rowsOf(namespace), keys: keys.length, locks: held.length + pending.length };
    },

    startIdleWorker() {
        idleWorker = new Worker('/browser/page/idle-worker.js');
        const worker = idleWorker;
        return new Promise((resolve, reject) => {
            worker.onmessage = () => resolve(undefined);
            worker.onerror = ({ message }) => reject(new Error(message));
        });
    },
    stopIdleWorker: () => idleWorker?.terminate(),
};

/** The number of rows of each store. @param {string} namespace @returns {Promise<Record<string, number>>} */
async function rowsOf(namespace) {
    const connection = await done(indexedDB.open(`tabacus/${namespace}`));
    const names = [...connection.objectStoreNames];
    const transaction = connection.transaction(names);
    const counts = await Promise.all(names.map((name) => done(transaction.objectStore(name).count())));
    connection.close();
    return Object.fromEntries(names.map((name, index) => [name, counts[index] ?? 0]));
}

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
const done = (request) =>
    new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });

/** @typedef {typeof commands} Commands */

// The harness finds the process of a page through `globalThis.page`.
Object.assign(globalThis, { soak: commands, page: commands });
