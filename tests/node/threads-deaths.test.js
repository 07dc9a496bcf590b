/** Workers of Node that are terminated at seeded moments, in the middle of operations on shared memory. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { repetitions } from '../browser/harness/repetitions.js';
import { seededRandom } from '../browser/page/seeded-random.js';
import {
    counterKinds,
    hasBarrier,
    locksMax,
    places,
    signal,
    slots,
    sums,
    words,
} from '../programs/mortal.js';
import { openPages } from './tab-pages.js';

const SEED = 20_270_101;
const DEATHS = repetitions(100, 1_000);

/** The deaths in one memory: more than there are slots of threads, and few enough for the names. */
const DEATHS_IN_MEMORY = 280;

/** After this time without progress the program counts as hanging. */
const HANG_MS = 60_000;

/** @typedef {import('tabacus/threads').ThreadsMemory} ThreadsMemory */
/** @typedef {import('../programs/mortal.js').Place} Place */

/** The deaths in this round of an owner of the mutex, and of a writer of the reader-writer lock. */
const died = { owner: 0, writer: 0 };

/** The addresses of the mutex and of the reader-writer lock that the page has tried last. */
const tried = { mutex: 0, rwLock: 0 };

/**
 * Whether a thread holds a reader-writer lock exclusively: the records and owners of combiner.hpp, the bits of
 * rw_lock.hpp.
 *
 * @param {Int32Array} view
 * @param {number} lock
 * @param {number} thread
 */
function writes(view, lock, thread) {
    const used = Number(view[(lock >> 2) + 1]);
    const states = (lock >> 2) + 6;
    const owners = states + 2 * 512;
    return Array.from({ length: used }, (_, index) => (index * 17) % 512).some(
        (record) => view[owners + 2 * record] === thread && (Number(view[states + 2 * record]) & 6) === 6,
    );
}

/** Opens a page whose reports of deaths are counted if the dead thread holds what the page has tried last. */
async function watchedPage(/** @type {(end: () => unknown) => void} */ after) {
    const { instantiate } = WebAssembly;
    WebAssembly.instantiate = /** @type {any} */ (
        async (/** @type {any} */ source, /** @type {any} */ imports) => {
            const instance = /** @type {any} */ (await instantiate(source, imports));
            const real = instance.exports;
            if (!real?.agent_exited) return instance;
            const view = new Int32Array(imports.env.memory.buffer);
            const exports = {
                ...real,
                mutex_try_lock: (/** @type {number} */ at, /** @type {number} */ self) => {
                    tried.mutex = at;
                    return real.mutex_try_lock(at, self);
                },
                rw_request: (/** @type {number} */ at, /** @type {number[]} */ ...rest) => {
                    tried.rwLock = at;
                    return real.rw_request(at, ...rest);
                },
                agent_exited: (
                    /** @type {number} */ root,
                    /** @type {number} */ agent,
                    /** @type {number} */ self,
                ) => {
                    const dead = Number(view[agent >> 2]);
                    if (Number(view[tried.mutex >> 2]) >>> 2 === dead) died.owner++;
                    if (writes(view, tried.rwLock, dead)) died.writer++;
                    real.agent_exited(root, agent, self);
                },
            };
            return { exports };
        }
    );
    try {
        const [page] = await openPages(1, after);
        return page;
    } finally {
        WebAssembly.instantiate = instantiate;
    }
}

/**
 * Resolves with what `promise` resolves with; fails after HANG_MS.
 *
 * @template T
 * @param {Promise<T>} promise
 * @param {string} what
 * @returns {Promise<T>}
 */
async function inTime(promise, what) {
    /** @type {NodeJS.Timeout | undefined} */
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`${what} hangs`)), HANG_MS);
    });
    try {
        return /** @type {T} */ (await Promise.race([promise, late]));
    } finally {
        clearTimeout(timer);
    }
}

/** Resolves once a word is at least `value`. @param {Int32Array} notes @param {number} word @param {number} [value] */
async function reached(notes, word, value = 1) {
    for (let seen; (seen = Atomics.load(notes, word)) < value;)
        await /** @type {any} */ (Atomics).waitAsync(notes, word, seen, 1_000).value;
}

/** The threads of one memory: one that is terminated in each round, and two that survive. */
class Mortals {
    #page;
    notes = new Int32Array(new SharedArrayBuffer(words.end * 4));
    #holder = new Int32Array(new SharedArrayBuffer(4));
    #seed;
    #survivor;
    #waiter;
    #totals = { atomic: 0n, mutexed: 0n, striped: 0n, tab: 0n };

    /** How many Workers died as an owner of the mutex, as a writer, and inside the function that runs once. */
    deaths = { owner: 0, writer: 0, once: 0 };

    /** @param {import('./tab-pages.js').Page} page @param {number} seed */
    constructor(page, seed) {
        this.#page = page;
        this.#seed = seed;
        this.#survivor = this.#start({ seed, operations: 0, stays: '' });
        this.#waiter = this.#start({ seed, operations: 0, stays: '', waits: true });
    }

    /** @param {{ seed: number, operations: number, stays: Place, waits?: boolean }} how */
    #start(how) {
        const own = new BigInt64Array(new SharedArrayBuffer(sums.end * 8));
        const workerData = {
            handle: this.#page.shared.handle,
            notes: this.notes,
            holder: this.#holder,
            own,
            parties: 2,
            patience_ms: HANG_MS,
            ...how,
        };
        return {
            worker: new Worker(new URL('../programs/mortal.node.js', import.meta.url), { workerData }),
            own,
        };
    }

    /**
     * Lets a Worker live until it reports that it is ready, terminates it, and checks what it leaves.
     *
     * @param {number} round
     * @param {{ operations: number, stays: Place }} how
     */
    async terminateOne(round, how) {
        const { shared } = this.#page;
        this.#begin(round);
        const held = await this.#othersWait(round);
        const waiting = this.#waitForDeath(held);
        signal(this.notes, words.pause, 0);
        const mortal = this.#start({ seed: this.#seed + 1 + round, ...how });
        await inTime(reached(this.notes, words.ready), 'a Worker');
        await mortal.worker.terminate();
        assert.equal(await inTime(waiting, 'the wait of the page'), true);
        await inTime(reached(this.notes, words.woken, round + 1), 'a wait for the death');
        signal(this.notes, words.pause, 1);
        await inTime(reached(this.notes, words.paused), 'the survivor');
        this.#checkReports();
        await this.#checkOnce(round);
        assert.equal(shared.semaphore('permit', 1).available, 1, 'the permit came back');
        assert.equal(shared.semaphore('slots', slots).available, slots, 'the slots came back');
        if (hasBarrier(round))
            await shared.barrier(`step ${round}`, 2).arriveAndWaitAsync({ timeout: HANG_MS });
        await this.#checkSums(mortal.own);
    }

    /** Prepares a round. From here on the page counts the deaths of its owners. @param {number} round */
    #begin(round) {
        const { shared } = this.#page;
        for (const word of [words.notified, words.rwNotified, words.ready, words.paused])
            this.notes[word] = 0;
        for (let word = words.onceBegunByMortal; word <= words.onceInside; word++) this.notes[word] = 0;
        Atomics.store(this.notes, words.round, round);
        const mutex = shared.mutex(`mutex ${round % locksMax}`);
        if (mutex.tryLock()) mutex.unlock();
        const lock = shared.rwLock(`lock ${round % locksMax}`);
        if (lock.tryLockExclusive()) lock.unlockExclusive();
        Object.assign(died, { owner: 0, writer: 0 });
    }

    /** Resolves once the waiting Worker waits for a death, with the mutex of that wait. @param {number} round */
    async #othersWait(round) {
        await inTime(reached(this.notes, words.waits, round + 1), 'the waiter');
        return this.#page.shared.mutex('of deaths').lockAsync();
    }

    /** Resolves after a death, with whether it ended the wait. @param {import('tabacus/threads').Grant} held */
    async #waitForDeath(held) {
        const notified = await this.#page.shared.condition('deaths').waitAsync(held);
        held.unlock();
        return notified;
    }

    /** Checks that each death inside was reported to exactly one successor. */
    #checkReports() {
        const { notes } = this;
        assert.equal(notes[words.notified], died.owner, 'deaths of an owner');
        assert.equal(notes[words.rwNotified], died.writer, 'deaths of a writer');
        this.deaths.owner += died.owner;
        this.deaths.writer += died.writer;
    }

    /** Checks that the function of the round has run, and was run again if its thread died. @param {number} round */
    async #checkOnce(round) {
        const { notes } = this;
        const ran = await this.#page.shared.callOnceAsync(`once ${round}`, () => {});
        const bySurvivor = Number(notes[words.onceBySurvivor]);
        const byMortal = Number(notes[words.onceByMortal]);
        const returned = Number(notes[words.onceReturned]);
        assert.ok(bySurvivor <= 1 && byMortal <= 1 && returned <= 1);
        if (returned > 0) assert.ok(!ran, 'a function that has run is not run again');
        if (bySurvivor + byMortal === 0) assert.ok(ran, 'a function that nobody has run is run');
        if (notes[words.onceBegunByMortal] === 1 && byMortal === 0) this.deaths.once++;
    }

    /** Checks that all completed adds are counted, and nothing else. @param {BigInt64Array} own */
    async #checkSums(own) {
        const { shared } = this.#page;
        const tabValue = BigInt(await shared.tabCounter('visits').read());
        for (const kind of /** @type {const} */ ([...counterKinds, 'tab'])) {
            const value = kind === 'tab' ? tabValue : shared.counter(kind, { kind }).valueBigInt;
            const completed = this.#totals[kind] + at(own, sums[kind]);
            const last = at(own, sums[`${kind}Intent`]);
            const rest = value - completed - at(this.#survivor.own, sums[kind]);
            assert.ok(rest === 0n || rest === last, `${kind}: ${rest} and ${last}`);
            this.#totals[kind] = completed + rest;
        }
    }

    async end() {
        await Promise.all([this.#survivor, this.#waiter].map(({ worker }) => worker.terminate()));
        assert.equal(this.notes[words.faults], 0, 'what the locks guard was consistent');
        await this.#page.shared.tabCounter('visits').flushAsync();
        const all = this.#totals.tab + at(this.#survivor.own, sums.tab);
        assert.equal(BigInt(await this.#page.tab.counter('visits').read()), all);
    }
}

/** @param {BigInt64Array} array @param {number} index */
const at = (array, index) => /** @type {bigint} */ (array[index]);

test(`${DEATHS} workers are terminated in the middle of their work: nothing hangs, and nothing is lost`, async (t) => {
    const random = seededRandom(SEED);
    const deaths = { owner: 0, writer: 0, once: 0 };
    for (let begin = 0; begin < DEATHS; begin += DEATHS_IN_MEMORY) {
        const mortals = new Mortals(await watchedPage(t.after.bind(t)), SEED + begin);
        for (let round = 0; round < Math.min(DEATHS_IN_MEMORY, DEATHS - begin); round++) {
            const stays = places[random(places.length + 3)] ?? '';
            const how = { operations: 1 + random(200), stays };
            await mortals.terminateOne(round, how).catch((error) => {
                throw new Error(`round ${begin + round}, ${JSON.stringify(how)}`, { cause: error });
            });
        }
        await mortals.end();
        for (const place of /** @type {const} */ (['owner', 'writer', 'once']))
            deaths[place] += mortals.deaths[place];
    }
    t.diagnostic(`deaths inside: ${JSON.stringify(deaths)}`);
    for (const count of Object.values(deaths)) assert.ok(count > DEATHS / 25, JSON.stringify(deaths));
});
