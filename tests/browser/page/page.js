/** The commands of a tab for the tests: `globalThis.page`, called through harness/commands.js. */

// @ts-ignore: served by the tests' server
import * as tabacus from '/dist/web/tabacus.js';
import { record, sums } from './record.js';
import { seededRandom } from './seeded-random.js';

/** @typedef {import('tabacus').Tab} Tab */
/** @typedef {import('tabacus').CounterOptions} CounterOptions */

/**
 * @typedef {object} Work
 * @property {string} name  of the counter
 * @property {CounterOptions} [options]
 * @property {number} seed
 * @property {number} batches
 * @property {number} adds  in a batch
 * @property {number} [least]  the smallest amount, 1 by default
 * @property {number} [most]  the largest amount
 */

/** @type {Tab | undefined} */
let tab;
/** @type {{ type: string, detail: any }[]} */
const events = [];
/** The property `persisted` of each pageshow after the first. @type {boolean[]} */
const shown = [];
/** @type {Worker | undefined} */
let idleWorker;
let lastRead = 0;
const me = crypto.randomUUID();

addEventListener('pageshow', ({ persisted }) => shown.push(persisted));

function opened() {
    if (!tab) throw new Error('the tab is not open; call open() first');
    return tab;
}

/**
 * @param {string} name
 * @param {CounterOptions} [options]
 * @returns {any} a counter of either class
 */
const counterOf = (name, options) => opened().counter(name, options);

/**
 * Reads a counter, and records the beginning and the end of the read.
 *
 * @param {string} name
 * @param {CounterOptions} [options]
 * @returns {Promise<number>}
 */
async function read(name, options) {
    const id = `${me}/${++lastRead}`;
    await record(name, { type: 'read-begin', id });
    const value = await counterOf(name, options).read();
    await record(name, { type: 'read-end', id, value });
    return value;
}

/**
 * Adds in batches. Each is recorded as attempted before and as acknowledged after. Most batches are flushed at once and
 * the others together with the next one, so that a death finds adds of every age.
 *
 * @param {Work} work
 */
async function work({ name, options, seed, batches, adds, least = 1, most = 1 }) {
    const counter = counterOf(name, options);
    const random = seededRandom(seed);
    let unacknowledged = { plus: 0, minus: 0 };
    for (let batch = 1; batch <= batches; batch++) {
        const amounts = Array.from({ length: adds }, () => least + random(most - least + 1));
        const { plus, minus } = sums(amounts);
        await record(name, { type: 'attempt', plus, minus, by: seed });
        for (const n of amounts) await counter.add(n);
        unacknowledged.plus += plus;
        unacknowledged.minus += minus;
        if (batch < batches && random(4) === 0) continue;
        await counter.flush();
        await record(name, { type: 'acknowledge', ...unacknowledged, by: seed });
        unacknowledged = { plus: 0, minus: 0 };
        if (random(8) === 0) await read(name, options);
    }
}

/** Calls by which a tab stores other rows in the database than those of the default counter. */
const uses = {
    transactional: (/** @type {Tab} */ tab) => tab.counter('c', { strategy: 'transactional' }).add(1),
    stores: (/** @type {Tab} */ tab) =>
        tab.lock('l').run((held) => held.commit('s', (tx) => tx.put('s', 'key', 1))),
    once: (/** @type {Tab} */ tab) => tab.once('o', () => 1),
    queue: (/** @type {Tab} */ tab) => tab.queue('q').enqueue(1, { key: 'one' }),
    sequence: (/** @type {Tab} */ tab) => tab.sequence('n').next(),
};

const commands = {
    /** @param {import('tabacus').OpenOptions} [options] */
    async open(options) {
        tab = /** @type {Tab} */ (await tabacus.open(options));
        tab.addEventListener('warning', ({ type, detail }) => void events.push({ type, detail }));
        tab.addEventListener('storelost', ({ type, detail }) => void events.push({ type, detail }));
        return tab.capabilities;
    },
    isOpen: () => tab !== undefined,
    close: () => opened().close(),
    read,
    work,

    /**
     * Begins work that only the death of the tab ends.
     *
     * @param {Work} endless
     */
    startWork(endless) {
        work(endless).catch((error) => console.error(error));
    },

    /** @param {string} name @param {number} n @param {CounterOptions} [options] */
    add: async (name, n, options) => /** @type {number} */ (await counterOf(name, options).add(n)),
    /** @param {string} name @param {CounterOptions} [options] */
    flush: async (name, options) => void (await counterOf(name, options).flush()),
    /** @param {string} name @param {CounterOptions} [options] @returns {number} */
    value: (name, options) => counterOf(name, options).value,
    /** @param {string} name @param {CounterOptions} [options] @returns {any} */
    guarantee: (name, options) => counterOf(name, options).guarantee,

    /**
     * Resolves when `value` is as expected, without a read.
     *
     * @param {string} name
     * @param {number} expected
     */
    converged(name, expected) {
        return new Promise((resolve) => {
            const stop = counterOf(name).subscribe((/** @type {number} */ value) => {
                if (value === expected) resolve(Promise.resolve().then(() => stop()));
            });
        });
    },

    /**
     * Stores something of a kind in the database.
     *
     * @param {keyof typeof uses} what
     */
    use: async (what) => void (await uses[what](opened())),

    /**
     * Resolves with the events of that type when there is one.
     *
     * @param {string} type
     */
    async event(type) {
        while (!events.some((event) => event.type === type)) {
            await new Promise((resolve) => setTimeout(resolve, 5));
        }
        return events.filter((event) => event.type === type).map(({ detail }) => detail);
    },
    events: () => events,
    shown: () => shown,

    /**
     * The keys of the rows that a counter has.
     *
     * @param {string} namespace
     * @param {string} counter
     */
    async rows(namespace, counter) {
        const connection = await done(indexedDB.open(`tabacus/${namespace}`));
        const keys = await done(connection.transaction('rows').objectStore('rows').getAllKeys());
        connection.close();
        return keys.map(String).filter((key) => key.split('/').includes(counter));
    },

    /** @param {string} namespace */
    deleteDatabase: (namespace) => done(indexedDB.deleteDatabase(`tabacus/${namespace}`)).then(() => {}),

    /**
     * Upgrades the database, as a later release of the package would.
     *
     * @param {string} namespace
     */
    async upgradeDatabase(namespace) {
        const name = `tabacus/${namespace}`;
        const found = (await indexedDB.databases()).find((database) => database.name === name);
        const connection = await done(indexedDB.open(name, (found?.version ?? 0) + 1));
        connection.close();
    },

    /**
     * Makes the next opening of a database fail, as while site data is being cleared. It fails because its version is
     * lower than the one that upgradeDatabase() left.
     */
    failNextOpening() {
        const { open } = indexedDB;
        IDBFactory.prototype.open = function (name) {
            IDBFactory.prototype.open = open;
            return open.call(this, name, 1);
        };
    },

    /**
     * Adds in the turn in which a later version requests the database, right after the package has closed its
     * connection.
     *
     * @param {string} namespace
     * @param {string} name
     */
    async addWhenUpgraded(namespace, name) {
        const counter = counterOf(name);
        const connection = await done(indexedDB.open(`tabacus/${namespace}`));
        connection.onversionchange = () => {
            connection.close();
            counter.add(1);
        };
    },

    /** Starts a Worker, so that the harness finds the process of this page. */
    startIdleWorker() {
        idleWorker = new Worker('/idle-worker.js');
        const worker = idleWorker;
        return new Promise((resolve, reject) => {
            worker.onmessage = () => resolve(undefined);
            worker.onerror = ({ message }) => reject(new Error(message));
        });
    },
    stopIdleWorker: () => idleWorker?.terminate(),
};

/**
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
function done(request) {
    return new Promise((resolve, reject) => {
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
    });
}

/** @typedef {typeof commands} Commands */

Object.assign(globalThis, { page: commands });

/** A page without automation reads from its address what to do. */
const orders = new URLSearchParams(location.search).get('orders');
if (orders) await follow(JSON.parse(orders));

/** @param {{ namespace: string, read?: string, work?: Work, hold?: string }} orders */
async function follow({ namespace, read: name, work: endless, hold: lock }) {
    await commands.open({ namespace });
    if (name) await read(name);
    if (endless) await work(endless);
    if (lock) await hold(lock);
}

/**
 * Acquires the lock and never releases it. Starts a Worker, so that the harness finds the process.
 *
 * @param {string} name
 */
async function hold(name) {
    await record(name, { type: 'asked' });
    const held = await opened().lock(name).acquire();
    await commands.startIdleWorker();
    await record(name, { type: 'granted', token: Number(held.token) });
}
