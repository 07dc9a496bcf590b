/** The commands of a page with threads for the tests: `globalThis.page`. */

// @ts-ignore: served by the tests' server
import { open } from '/dist/web/tabacus.js';
// @ts-ignore: served by the tests' server
import * as tabacus from '/dist/web/tabacus-threads.js';
// @ts-ignore: served by the tests' server
import { startAdders, addersAll } from '/programs/adders.js';
// @ts-ignore: served by the tests' server
import { article, articleLoses, articleWorkers } from '/programs/article.js';
// @ts-ignore: served by the tests' server
import { spawn } from '/programs/spawn.web.js';

/** @type {import('tabacus/threads').ThreadsMemory | undefined} */
let shared;
/** @type {import('../../programs/adders.js').Adder[]} */
let adders = [];

function memory() {
    if (!shared) throw new Error('there is no shared memory; call start() first');
    return shared;
}

const commands = {
    async start() {
        const started = /** @type {import('tabacus/threads').ThreadsMemory} */ (await tabacus.threads());
        shared = started;
        adders = await startAdders(spawn, articleWorkers, started.handle);
    },
    threads: () => tabacus.threads(),

    /** Opens and closes a tab, a number of times. @param {number} times */
    async openAndClose(times) {
        for (let i = 0; i < times; i++) await (await open({ namespace: 'again' })).close();
    },

    /** Makes a memory, makes all its parts listen, and closes it, a number of times. @param {number} times */
    async makeAndClose(times) {
        const tab = await open({ namespace: 'again' });
        for (let i = 0; i < times; i++) {
            const made = await tabacus.threads({ tab });
            const mutex = made.mutex('m');
            mutex.tryLock();
            const waiting = [
                mutex.lockAsync(),
                made
                    .tabLock('l')
                    .lockAsync()
                    .then(() => made.tabLock('l').lockAsync()),
            ];
            await made.storage();
            await made.locks.request('l', () => {});
            await made.hammer(made.counter('c'), { threads: 1, adds: 1 });
            made.close();
            await Promise.allSettled(waiting);
        }
        await tab.close();
    },

    /**
     * Counts in a memory of its own, first alone and then by C++ threads, and lists the wasm that each has
     * requested.
     */
    async countAndHammer() {
        const asked = () =>
            performance
                .getEntriesByType('resource')
                .map(({ name }) => String(name.split('/').pop()))
                .filter((name) => name.endsWith('.wasm'));
        const made = await tabacus.threads();
        const counter = made.counter('c');
        counter.add(1);
        const alone = asked();
        await made.hammer(counter, { threads: 2, adds: 1000 });
        const { value } = counter;
        made.close();
        return { value, alone, later: asked().slice(alone.length) };
    },

    stop: () => adders.forEach((adder) => adder.terminate()),

    /** @param {import('tabacus/threads').CounterKind} kind */
    article: (kind) => article(memory(), adders, kind),
    /** @param {number} triesMax */
    articleLoses: (triesMax) => articleLoses(memory(), adders, triesMax),

    /**
     * Counts by C++ threads and attached Workers at once on one counter.
     *
     * @param {number} adds
     */
    async everybody(adds) {
        const counter = memory().counter('everybody', { kind: 'mutexed' });
        const task = { name: 'everybody', kind: 'mutexed', n: 1, adds };
        await Promise.all([memory().hammer(counter, { threads: 2, adds }), addersAll(adders, task)]);
        return counter.value;
    },

    /**
     * Counts by the page and the Workers under one mutex, for which they wait in one queue.
     *
     * @param {number} adds
     */
    async lockAsync(adds) {
        const counter = memory().counter('page and workers', { kind: 'unsynchronised' });
        const mutex = memory().mutex('queue');
        const task = { name: 'page and workers', kind: 'unsynchronised', n: 1, adds };
        const workers = addersAll(adders, { ...task, mutex: { name: 'queue', how: 'lock' } });
        for (let i = 0; i < adds; i++) {
            const held = await mutex.lockAsync();
            counter.add();
            held.unlock();
        }
        await workers;
        return counter.value;
    },

    /** The outcome of a blocking lock of a taken mutex on this thread. */
    async blockingLock() {
        const mutex = memory().mutex('taken');
        const held = await mutex.lockAsync();
        try {
            mutex.lock();
        } finally {
            held.unlock();
        }
    },

    /** Counts by a Worker of the user. */
    attachWorker() {
        const worker = new Worker('/attach-worker.js', { type: 'module' });
        worker.postMessage(memory().handle);
        return new Promise((resolve, reject) => {
            worker.onmessage = ({ data }) => resolve(data);
            worker.onerror = ({ message }) => reject(new Error(message));
        }).finally(() => worker.terminate());
    },
};

/** @typedef {typeof commands} ThreadsCommands */

Object.assign(globalThis, { page: commands });
