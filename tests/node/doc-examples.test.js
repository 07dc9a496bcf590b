/**
 * The `@example` blocks of the doc comments in js run over the built package. An example that is no JavaScript, that names
 * a function or a method which does not exist, or that does not do what its companion below checks, fails.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { after, describe, test } from 'node:test';
import { Worker } from 'node:worker_threads';
import { open } from 'tabacus';
import { explore } from 'tabacus/emulator';
import { threads } from 'tabacus/threads';
import { attach } from 'tabacus/worker';
import { runExample } from './doc-example.node.js';
import { testOrigin } from './test-origin.js';

/** @typedef {import('tabacus').Tab} Tab */
/** @typedef {{ name: string, body: string }} Example */

const root = new URL('../../', import.meta.url);

/** The name of a function, a class, a method or an accessor at the beginning of a line. */
const declaration = /^\s*(?:export )?(?:async )?(?:function\*? |class |static |get )?(\[[\w.]+\]|\w+)[ (]/;

/** @param {string} file */
const sourceOf = (file) => readFileSync(new URL(file, root), 'utf8');

/**
 * Returns the examples of a file. An example is named for its file and for what it documents, such as
 * `js/tab/counter.js TabCounter.read`; that of a file's first comment is named for the file alone.
 *
 * @param {string} file
 * @returns {Example[]}
 */
function examplesIn(file) {
    const source = sourceOf(file);
    return [...source.matchAll(/\/\*\*((?:(?!\*\/)[^])*?)@example\n((?:(?!\*\/)[^])*)\*\/\n(.*)/g)].map(
        (found) => {
            const [comment = '', , block = '', line = ''] = found;
            const lines = block.split('\n').map((one) => one.replace(/^\s*\* ?/, ''));
            const end = lines.findIndex((one) => one.startsWith('@'));
            const body = lines.slice(0, end < 0 ? lines.length : end).join('\n');
            const scope = source.slice(0, found.index + comment.length - line.length);
            const [, type] = [...scope.matchAll(/^(?:export )?class (\w+)/gm)].at(-1) ?? [];
            const [, subject] = declaration.exec(line) ?? [];
            const inClass = /^\s/.test(line) ? `${type}.${subject}` : subject;
            return { name: line && subject ? `${file} ${inClass}` : file, body };
        },
    );
}

const files = (await readdir(new URL('js/', root), { recursive: true }))
    .map((file) => `js/${file.replaceAll('\\', '/')}`)
    .filter((file) => file.endsWith('.js') && !file.includes('/generated/'))
    .sort();
const examples = files.flatMap(examplesIn);

/** What an example finds around it: the tabs of an origin, and functions that record how they are called. */
class Stage {
    // Some examples have Workers, for which a virtual clock would not wait.
    #origin = testOrigin({ clock: 'real' });

    /** @type {Map<string, unknown>} */
    #made = new Map();

    /** @type {(() => unknown)[]} */
    #endings = [];

    /** The calls of each recording function, by its name. @type {Record<string, any[][]>} */
    calls = {};

    /** @type {typeof open} */
    open = (options) => this.openBy(open, options);

    /** @param {typeof open} opening @param {import('tabacus').OpenOptions} [options] */
    async openBy(opening, options) {
        const tab = await opening({ ...options, window: (await this.#origin).window() });
        this.ending(() => tab.close());
        return tab;
    }

    /** Waits until the condition holds. @param {() => boolean} condition */
    async until(condition) {
        await (await this.#origin).until(condition);
    }

    /** @param {() => unknown} end called when the example has run */
    ending(end) {
        this.#endings.push(end);
    }

    /** Returns the object of a name in `surroundings`, the same one for each call. @param {string} name @returns {Promise<any>} */
    async get(name) {
        if (!this.#made.has(name)) this.#made.set(name, surroundings[name]?.(this));
        return this.#made.get(name);
    }

    /** Sets the object of a name, and returns it. @template T @param {string} name @param {T} made */
    set(name, made) {
        this.#made.set(name, made);
        return made;
    }

    /** A function that records its calls. @param {string} name @param {(...given: any[]) => unknown} [result] */
    recorder(name, result = () => undefined) {
        /** @type {any[][]} */
        const calls = [];
        this.calls[name] = calls;
        return async (/** @type {any[]} */ ...given) => {
            calls.push(given);
            return result(...given);
        };
    }

    /** Imports a module of the package, with an open() that opens a tab of this stage. @param {string} specifier */
    async import(specifier) {
        const module = await import(specifier);
        const wrapped = { ...module };
        const { open: opening, threads: makeMemory, createOrigin } = module;
        if (opening) wrapped.open = (/** @type {any} */ options) => this.openBy(opening, options);
        if (makeMemory) wrapped.threads = (/** @type {any} */ options) => this.keep(makeMemory(options));
        if (createOrigin)
            wrapped.createOrigin = (/** @type {any} */ options) => this.keep(createOrigin(options));
        return wrapped;
    }

    /** Closes what a promise resolves to when the example has run. @template {{ close(): unknown }} T @param {Promise<T>} making */
    async keep(making) {
        const made = await making;
        this.ending(() => made.close());
        return made;
    }

    async close() {
        for (const end of this.#endings.reverse()) await end();
    }
}

/** The namespace of the tab that examples find open. */
const namespace = 'examples';

/** What examples use and do not declare. @type {Record<string, (stage: Stage) => unknown>} */
const surroundings = {
    tab: (stage) => stage.open({ namespace }),
    other: (stage) => stage.open({ namespace }),
    counter: async (stage) => (await stage.get('tab')).counter('visits'),
    visits: async (stage) => (await stage.get('tab')).counter('visits'),
    shared: async (stage) => stage.keep(threads({ tab: await stage.get('tab') })),
    mutex: async (stage) => (await stage.get('shared')).mutex('mutex'),
    explore:
        (stage) =>
        async (/** @type {[any, any]} */ ...given) =>
            stage.set('report', explore(...given)),
    url: () => 'https://shop.example/file',
    order: () => 'order 1',
    output: () => ({}),
    button: () => ({}),
    console: (stage) => ({ log: stage.recorder('log') }),
    worker: (stage) => ({ postMessage: stage.recorder('postMessage') }),
    bank: (stage) => ({ pay: stage.recorder('pay', (amount) => ({ paid: amount })) }),
    fetch: (stage) => stage.recorder('fetch', () => Response.json({ token: 'fresh' })),
    addEventListener: (stage) => stage.recorder('addEventListener'),
    download: (stage) => stage.recorder('download'),
    poll: (stage) => stage.recorder('poll'),
    work: (stage) => stage.recorder('work'),
};

/** In browsers a Worker has this property, to which the example of js/worker.js assigns. */
Object.assign(globalThis, { onmessage: null });

/**
 * What happens while an example runs, and what is checked of it, by its name. A companion awaits the example's end itself.
 *
 * @type {Record<string, (stage: Stage, running: Promise<unknown>) => Promise<void>>}
 */
const companions = {
    'js/emulator.js explore': async (stage, running) => {
        await running;
        const { verdict, failure } = await stage.get('report');
        // Browsers cache localStorage in each process, so that a lock alone does not make it exact.
        assert.deepEqual([verdict, failure], ['broken', 'the invariant does not hold']);
    },
    'js/lab.js': async (stage, running) => {
        await running;
        const [[verdict, trace]] = /** @type {any} */ (stage.calls.log);
        assert.equal(verdict, 'broken');
        assert.match(trace, /adds 1/);
    },
    'js/lock/held.js Held.commit': async (stage, running) => {
        await running;
        assert.deepEqual(await cart(stage), ['pen']);
    },
    'js/lock/leader.js Leader.call': async (stage, running) => {
        const other = await stage.get('other');
        const led = other
            .leader('payments')
            .run((/** @type {import('tabacus').Term} */ term) => term.answer(({ pay }) => ({ paid: pay })));
        await running;
        await other.close();
        await assert.rejects(led);
    },
    'js/lock/leader.js Term.answer': async (stage, running) => {
        const [tab, other] = [await stage.get('tab'), await stage.get('other')];
        assert.deepEqual(await other.leader('payments').call({ pay: 12 }), { paid: 12 });
        const read = (/** @type {import('tabacus').Held} */ held) =>
            held.commit('receipts', (tx) => tx.list('receipts'));
        const [[id, receipt]] = await other.lock('receipts').run(read);
        assert.deepEqual([receipt, stage.calls.pay], [{ paid: 12 }, [[12, { idempotencyKey: id }]]]);
        await Promise.all([assert.rejects(running), tab.close()]);
    },
    'js/lock/lock.js Lock': async (stage, running) => {
        await running;
        assert.deepEqual(await cart(stage), ['pen']);
    },
    'js/lock/semaphore.js Semaphore': fetches('https://shop.example/file'),
    'js/lock/serial.js Serial': async (stage, running) => {
        await running;
        const button = await stage.get('button');
        assert.equal(button.ariaPressed, 'false');
        const clicked = button.onclick();
        assert.equal(button.ariaPressed, 'true');
        await clicked;
        await button.onclick();
        assert.deepEqual(
            stage.calls.fetch?.map(([address, { method }]) => [address, method]),
            [
                ['/like', 'PUT'],
                ['/like', 'DELETE'],
            ],
        );
    },
    'js/limits/handles.js Budget': fetches('https://shop.example/file'),
    'js/service-worker.js': async (stage, running) => {
        await running;
        const page = await stage.open({ namespace: 'reader' });
        const { result } = await page.queue('pages').enqueue('/book/1');
        const [[type, listener]] = /** @type {any} */ (stage.calls.addEventListener);
        assert.equal(type, 'sync');
        await new Promise((resolve) => listener({ waitUntil: resolve }));
        await result;
        assert.equal(stage.calls.download?.[0]?.[0].payload, '/book/1');
    },
    'js/tab/counter.js TabCounter.subscribe': async (stage, running) => {
        await running;
        assert.equal((await stage.get('output')).textContent, '0');
    },
    'js/tab/counter.js TabCounter.[Symbol.asyncIterator]': async (stage, running) => {
        await stage.until(() => stage.calls.log?.length === 1);
        await (await stage.get('tab')).close();
        await running;
        assert.deepEqual(stage.calls.log, [[0]]);
    },
    'js/tab/counter.js ReplicatedCounter.state': async (stage, running) => {
        await running;
        const [[, { body }]] = /** @type {any} */ (stage.calls.fetch);
        await (await stage.get('visits')).merge(JSON.parse(body));
    },
    'js/tab/open.js open': async (stage, running) => {
        await running;
        const other = await stage.open({ namespace: 'shop' });
        assert.equal(await other.counter('visits').read(), 1);
    },
    'js/tab/tab.js Tab.lock': fetches('/refresh'),
    'js/tab/tab.js Tab.leader': async (stage, running) => {
        await running;
        const [[{ term, signal }]] = /** @type {any} */ (stage.calls.poll);
        assert.ok(term > 0 && !signal.aborted);
    },
    'js/tab/tab.js Tab.queue': async (stage, running) => {
        await running;
        await stage.until(() => stage.calls.download?.[0]?.[0] === '/book/1');
    },
    'js/tab/tab.js Tab.once': fetches('/refresh'),
    'js/threads.js': async (stage, running) => {
        await running;
        const [[handle]] = /** @type {any} */ (stage.calls.postMessage);
        await stage.keep(attach(handle));
    },
    'js/threads/shared-counter.js SharedCounter': async (stage, running) => {
        await running;
        assert.equal((await stage.get('shared')).counter('clicks').value, 42);
    },
    'js/threads/shared-mutex.js SharedMutex': async (stage, running) => {
        await running;
        const mutex = await stage.get('mutex');
        assert.deepEqual([stage.calls.work?.length, mutex.locked], [1, false]);
    },
    'js/worker.js': async (stage, running) => {
        await running;
        const shared = await stage.get('shared');
        await /** @type {any} */ (globalThis).onmessage({ data: shared.handle });
        assert.equal(shared.counter('clicks').value, 1);
    },
};

/** The examples of code that blocks, as only a Worker may. They find `shared` and a `work()` there. */
const inWorkers = [
    'js/threads/shared-barrier.js SharedBarrier',
    'js/threads/tab-lock/shared-tab-lock.js SharedTabLock',
];

/** A companion that checks the address of the example's only fetch. @param {string} address */
function fetches(address) {
    return async (/** @type {Stage} */ stage, /** @type {Promise<unknown>} */ running) => {
        await running;
        assert.deepEqual(
            stage.calls.fetch?.map(([first]) => first),
            [address],
        );
    };
}

/** Reads the cart that the examples of locks write. @param {Stage} stage */
const cart = async (stage) =>
    (await stage.get('tab'))
        .lock('cart')
        .run((/** @type {import('tabacus').Held} */ held) =>
            held.commit('carts', (tx) => tx.get('carts', 'mine')),
        );

/** Runs an example in a Worker that has attached to a shared memory. @param {Stage} stage @param {string} body */
async function runInWorker(stage, body) {
    const { handle } = await stage.get('shared');
    const worker = new Worker(new URL('./doc-example.node.js', import.meta.url), {
        workerData: { handle, body },
    });
    const calls = await new Promise((resolve, reject) => {
        worker.once('message', resolve);
        worker.once('error', reject);
    });
    await worker.terminate();
    assert.equal(calls, 1, 'the example has called work() once');
}

/** @param {Example} example */
async function run({ name, body }) {
    const stage = new Stage();
    try {
        if (inWorkers.includes(name)) return await runInWorker(stage, body);
        const used = Object.keys(surroundings).filter((one) => new RegExp(`\\b${one}\\b`).test(body));
        const scope = Object.fromEntries(
            await Promise.all(used.map(async (one) => [one, await stage.get(one)])),
        );
        const running = runExample(body, scope, (specifier) => stage.import(specifier));
        running.catch(() => {}); // what follows awaits it
        const companion = companions[name];
        await (companion ? companion(stage, running) : running);
    } finally {
        await stage.close();
    }
}

describe('the example of', { timeout: 120_000 }, () => {
    for (const example of examples) test(example.name, () => run(example));

    test('every doc comment that has one is run', () => {
        const blocks = files.flatMap((file) => [...sourceOf(file).matchAll(/^\s*\* @example/gm)]);
        assert.ok(blocks.length > 0);
        assert.equal(examples.length, blocks.length);
    });

    test('each companion exists', () => {
        const names = examples.map(({ name }) => name);
        const known = [...Object.keys(companions), ...inWorkers];
        assert.deepEqual(
            known.filter((name) => !names.includes(name)),
            [],
        );
    });
});

after(() => Reflect.deleteProperty(globalThis, 'onmessage'));
