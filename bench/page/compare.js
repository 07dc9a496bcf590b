/**
 * A tab of `npm run compare`: it increments one counter as fast as it can, and measures how soon another tab sees it.
 */

// @ts-ignore: served by the comparison's server
import { open } from '/dist/web/tabacus.js';
import { nextMacrotask } from './next-macrotask.js';

/** @typedef {import('tabacus').Counter} Counter */
/** @typedef {import('tabacus').CounterOptions} CounterOptions */

/**
 * How many adds that wait for nothing run in one turn of the event loop. Writes of other tabs arrive between turns.
 */
const ADDS_A_TURN = 1000;

/**
 * The bounds of a group of increments that are timed together: the clock shows 5 to 100 µs, and an add takes 0.02 µs.
 */
const GROUP_MIN_MS = 0.5;
const GROUP_MAX_MS = 2;

/** The largest number of samples, enough for a 99th percentile. */
const SAMPLES_MAX = 4096;

/** The longest time for an add that began before the end: the mutex of a strategy may be forced after 5 s. */
const GRACE_MS = 7000;

/** The number of failed adds after which a tab gives up. */
const FAILURES_MAX = 1000;

/** How long another tab waits until it sees an increment. */
const SEEN_MAX_MS = 2000;
const PINGS = 30;

/** @param {number} delay_ms @returns {Promise<'late'>} */
const late = (delay_ms) => new Promise((resolve) => setTimeout(() => resolve('late'), delay_ms));

/** @type {import('tabacus').Tab} */
let tab;
/** @type {Counter} */
let counter;

/** Samples of a stream of unknown length: it keeps every sample, then every second one, every fourth one … */
class Samples {
    /** @type {number[]} */
    kept = [];
    #stride = 1;
    #seen = 0;

    /** @param {number} sample */
    add(sample) {
        if (this.#seen++ % this.#stride !== 0) return;
        this.kept.push(sample);
        if (this.kept.length < SAMPLES_MAX) return;
        this.kept = this.kept.filter((_, i) => i % 2 === 0);
        this.#stride *= 2;
    }
}

class Hammer {
    attempted = 0;
    acknowledged = 0;
    failed = 0;
    took_ms = 0;
    #group = 1;
    #sinceTurn = 0;
    #samples = new Samples();

    /** @param {number} duration_ms */
    constructor(duration_ms) {
        this.begun_ms = performance.now();
        this.end_ms = this.begun_ms + duration_ms;
    }

    async run() {
        while (performance.now() < this.end_ms && this.failed < FAILURES_MAX) {
            await this.#addGroup();
            if (this.#sinceTurn < ADDS_A_TURN) continue;
            this.#sinceTurn = 0;
            await nextMacrotask();
        }
        this.took_ms = performance.now() - this.begun_ms;
        await counter.flush();
    }

    async #addGroup() {
        const began_ms = performance.now();
        let added = 0;
        while (added < this.#group) {
            const adding = this.#add();
            if (adding) await adding;
            added++;
            // If adds become slow, the group ends early, so that the loop looks at the clock again.
            if (added % 16 === 0 && performance.now() > this.end_ms) break;
        }
        const took_ms = performance.now() - began_ms;
        this.#samples.add(took_ms / added);
        this.#sinceTurn += added;
        if (took_ms < GROUP_MIN_MS) this.#group = Math.min(this.#group * 2, ADDS_A_TURN);
        if (took_ms > GROUP_MAX_MS) this.#group = Math.max(this.#group >> 2, 1);
    }

    /** @returns {Promise<void> | undefined} undefined if there is nothing to wait for */
    #add() {
        this.attempted++;
        const adding = counter.add(1);
        if (typeof adding === 'number') return void this.acknowledged++;
        return adding.then(
            () => void this.acknowledged++,
            () => void this.failed++,
        );
    }

    /** @param {boolean} stuck @returns {import('../../scripts/lib/compare-statistics.js').Work} */
    result(stuck) {
        const { attempted, acknowledged, failed, begun_ms } = this;
        const took_ms = this.took_ms || performance.now() - begun_ms;
        return { attempted, acknowledged, failed, took_ms, stuck, add_ms: this.#samples.kept };
    }
}

/** @param {number} duration_ms */
async function hammer(duration_ms) {
    const work = new Hammer(duration_ms);
    const outcome = await Promise.race([work.run(), late(duration_ms + GRACE_MS)]);
    return work.result(outcome === 'late');
}

// --- How soon another tab sees an increment ------------------------------------------------------

const channel = new BroadcastChannel('compare');

/** @param {string} word @returns {Promise<void>} */
const answerOf = (word) =>
    new Promise((resolve) => {
        /** @param {MessageEvent} event */
        const listener = ({ data }) => {
            if (data !== word) return;
            channel.removeEventListener('message', listener);
            resolve();
        };
        channel.addEventListener('message', listener);
    });

/** The value in the store, or undefined if the read fails. */
const readOnce = () => counter.read().catch(() => undefined);

/** Waits until the counter changes, as its value or a read() shows. Resolves to whether it did in time. */
async function changed() {
    const known = (await readOnce()) ?? counter.value;
    const shown = counter.value;
    channel.postMessage('watching');
    const end_ms = performance.now() + SEEN_MAX_MS;
    while (performance.now() < end_ms) {
        if (counter.value !== shown) return true;
        const read = await Promise.race([readOnce(), late(SEEN_MAX_MS)]);
        if (typeof read === 'number' && read !== known) return true;
        await nextMacrotask();
    }
    return false;
}

/** The part of the tab that sees the increments. */
function answer() {
    channel.onmessage = async ({ data }) => {
        if (data === 'ping') channel.postMessage('pong');
        if (data === 'watch') channel.postMessage((await changed()) ? 'seen' : 'missed');
    };
}

/** Half of the time of a message to the other tab and back: the time for which the answer travels. */
async function messageTime() {
    const times = [];
    for (let i = 0; i < PINGS; i++) {
        const began_ms = performance.now();
        const answered = answerOf('pong');
        channel.postMessage('ping');
        await answered;
        times.push(performance.now() - began_ms);
    }
    return (times.sort((a, b) => a - b)[PINGS >> 1] ?? 0) / 2;
}

/** The part of the tab that adds. @param {number} duration_ms */
async function ask(duration_ms) {
    const message_ms = await messageTime();
    const end_ms = performance.now() + duration_ms;
    /** @type {number[]} */
    const seen_ms = [];
    let missed = 0;
    while (performance.now() < end_ms) {
        const watching = answerOf('watching');
        channel.postMessage('watch');
        await watching;
        const answered = Promise.race([
            answerOf('seen'),
            answerOf('missed').then(() => /** @type {const} */ ('missed')),
        ]);
        const began_ms = performance.now();
        const adding = Promise.resolve(counter.add(1)).catch(() => {});
        if ((await answered) === 'missed') missed++;
        else seen_ms.push(Math.max(0, performance.now() - began_ms - message_ms));
        if ((await Promise.race([adding, late(GRACE_MS)])) === 'late') break;
    }
    return { seen_ms, missed };
}

// --- What the harness calls ----------------------------------------------------------------------

/** @type {{ value?: unknown, error?: unknown } | undefined} */
let ended;
/** @param {Promise<unknown>} work */
const begin = (work) => {
    ended = undefined;
    work.then(
        (value) => (ended = { value }),
        (error) => (ended = { error }),
    );
};

const commands = {
    /** @param {string} namespace @param {CounterOptions} options */
    async open(namespace, options) {
        tab = await open({ namespace });
        counter = tab.counter('hammered', options);
        return counter.guarantee.lost;
    },
    /** @param {number} duration_ms */
    hammer: (duration_ms) => begin(hammer(duration_ms)),
    /** @param {number} duration_ms */
    ask: (duration_ms) => begin(ask(duration_ms)),
    answer,
    /** Returns the result of the work that was begun last, or undefined until that has ended. */
    result() {
        if (ended?.error) throw ended.error;
        return ended?.value;
    },
    read: () => Promise.race([readOnce(), late(GRACE_MS).then(() => undefined)]),
};

/** @type {Worker | undefined} */
let idleWorker;
/** Lets the harness find the process of this page. */
const page = {
    startIdleWorker() {
        idleWorker = new Worker('/idle-worker.js');
        const worker = idleWorker;
        return new Promise((resolve) => (worker.onmessage = () => resolve(undefined)));
    },
    stopIdleWorker: () => idleWorker?.terminate(),
};

Object.assign(globalThis, { compare: commands, page });
