/** What makes explore() a tool for every day: setups, modules, threads, progress, and no trace in the host. */

import assert from 'node:assert/strict';
import { resolveObjectURL } from 'node:buffer';
import { spawnSync } from 'node:child_process';
import { getEventListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createOrigin, explore, replay, TabacusError } from 'tabacus/emulator';

/** @typedef {import('tabacus/emulator').Scenario} Scenario */
/** @typedef {import('tabacus/emulator').ExploreOptions} ExploreOptions */

const lostUpdate = new URL('scenarios/lost-update.js', import.meta.url);

/** @param {string} source */
const moduleOf = (source) => new URL(`data:text/javascript,${encodeURIComponent(source)}`);

/** @type {Scenario} */
const increments = async ({ window: { navigator, localStorage } }) => {
    await navigator.locks.request('n', () => {
        localStorage.n = Number(localStorage.n ?? 0) + 1;
    });
};

/** @param {import('tabacus/emulator').InvariantContext} context */
const twoAdded = ({ origin }) => origin.openTab().window.localStorage.n === '2' || 'an update is lost';

/** Uses a lock, a timer, a channel and a database. @type {ExploreOptions['setup']} */
const busySetup = async ({ origin }) => {
    const { window } = origin.openTab();
    for (let at = 0; at < 30; ++at) await new Promise((done) => window.setTimeout(done, 1));
    await window.navigator.locks.request('setup', () => new Promise((done) => window.setTimeout(done, 1000)));
    const opening = window.indexedDB.open('d', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('rows').put('of the setup', 'key');
    await new Promise((done) => (opening.onsuccess = done));
    opening.result.close();
    new window.BroadcastChannel('setup').postMessage('unreceived');
    window.localStorage.setItem('of', 'the setup');
};

describe('setup', () => {
    it('what a setup does is over before the scenario begins, in storages and databases', async () => {
        const report = await explore(
            async ({ window, number }, { index }) => {
                assert.equal(number, index + 1, 'the tabs of the scenario are the first');
                assert.equal(window.localStorage.getItem('of'), 'the setup');
                const opening = window.indexedDB.open('d');
                await new Promise((done) => (opening.onsuccess = done));
                const reading = opening.result.transaction('rows').objectStore('rows').get('key');
                await new Promise((done) => (reading.onsuccess = done));
                assert.equal(reading.result, 'of the setup');
            },
            { setup: busySetup, seeds: 20 },
        );
        assert.deepEqual(
            [report.verdict, report.failure, report.seeds],
            ['unbroken within the bound', '', 20],
        );
    });

    it('the steps of a setup are no choices of the schedule, and the failing run replays', async () => {
        const options = { setup: busySetup, invariant: twoAdded, steps: 20 };
        const report = await explore(increments, options);
        assert.deepEqual(await explore(increments, options), report);
        assert.equal(report.failure, 'an update is lost');
        assert.ok((report.schedule ?? []).length < 20);
        const again = await replay(increments, report, options);
        assert.deepEqual([again.failure, again.trace], [report.failure, report.trace]);
        assert.match(report.trace ?? '', /tab 3 .*writes of = the setup/);
    });

    it('a setup that throws, or in whose tab an error is not handled, is a failure with a clear text', async () => {
        const failing = /** @type {(setup: ExploreOptions['setup']) => Promise<string>} */ (
            async (setup) => (await explore(() => assert.fail('it has begun'), { setup, seeds: 1 })).failure
        );
        assert.equal(await failing(() => Promise.reject(new RangeError('full'))), 'setup: RangeError: full');
        const uncaught = (/** @type {import('tabacus/emulator').SetupContext} */ { origin }) =>
            origin.openTab().window.reportError(new TypeError('of a tab'));
        assert.equal(await failing(uncaught), 'setup: uncaught: TypeError: of a tab');
        const waiting = { setup: () => new Promise(() => {}) };
        const { failure } = await replay(increments, { seed: 1, schedule: [] }, waiting);
        assert.equal(failure, 'setup: it waits for ever');
    });
});

describe('the module of a scenario', () => {
    it('the URL of a module stands for its exports, and options take precedence', async () => {
        const report = await explore(lostUpdate);
        assert.deepEqual([report.verdict, report.failure], ['broken', 'the count is 6 instead of 7']);
        assert.deepEqual(await explore(lostUpdate.href), report);
        assert.equal((await replay(lostUpdate, report)).failure, report.failure);
        assert.equal((await explore(lostUpdate, { invariant: () => 'mine' })).failure, 'mine');
        assert.equal(
            (await explore(lostUpdate, { setup: () => Promise.reject(new Error('mine')) })).failure,
            'setup: Error: mine',
        );
        const main = moduleOf('export default () => { throw new Error("main") }');
        assert.match((await explore(main)).failure, /^tab [12]: Error: main$/);
        const script = moduleOf('export const scenario = "localStorage.setItem(1, 1)"');
        assert.equal((await explore(script, { seeds: 2 })).failure, '');
    });

    it('an address that is no scenario is refused', async () => {
        const refused = [
            'file:///nowhere/scenario.js',
            moduleOf('export const other = 1'),
            moduleOf('export const scenario = 1'),
            moduleOf('export const scenario = "1", setup = 1'),
            moduleOf('export const scenario = "1", invariant = "1"'),
            moduleOf('throw new Error("at once")'),
        ];
        for (const url of refused)
            await assert.rejects(
                explore(url),
                { code: 'invalid-argument', argument: 'scenario' },
                String(url),
            );
    });
});

describe('workers', () => {
    it('the report of several threads is that of one, and no thread survives', async () => {
        /** @type {import('node:worker_threads').Worker[]} */
        const threads = [];
        const note = (/** @type {any} */ thread) => threads.push(thread);
        process.on('worker', note);
        const faulty = /** @type {const} */ ({ faults: ['kill', 'freeze'], faultBudget: 2 });
        /** @type {Parameters<typeof explore>[1][]} */
        const all = [
            { exhaust: 0 },
            { storage: 'interleaved', seeds: 70, exhaust: 0, ...faulty },
            { seeds: [4, 12, 2, 10, 6, 8, 1, 7], tabs: 2 },
            { seeds: 0 },
        ];
        for (const options of all) {
            const [alone, shared] = /** @type {[number[], number[]]} */ ([[], []]);
            const report = await explore(lostUpdate, { ...options, progress: (seeds) => alone.push(seeds) });
            const progress = (/** @type {number} */ seeds) => shared.push(seeds);
            assert.deepEqual(await explore(lostUpdate, { ...options, workers: 3, progress }), report);
            assert.deepEqual(shared, alone);
        }
        process.off('worker', note);
        assert.equal(threads.length, 9);
        assert.ok(threads.every(({ threadId }) => threadId === -1));
    });

    it('the first broken seed in the order of the seeds is reported, although a later one breaks first', async () => {
        const late = moduleOf(`export const scenario = async (tab, { seed }) => {
            if (seed === 3) for (let turn = 0; turn < 50; ++turn) await new Promise((done) => tab.window.setTimeout(done, 1));
            if (seed >= 3) throw new Error('of seed ' + seed);
        };`);
        const report = await explore(late, { workers: 4, seeds: 40, tabs: 1 });
        assert.deepEqual([report.seed, report.seeds, report.failure], [3, 3, 'tab 1: Error: of seed 3']);
        const seen = /** @type {number[]} */ ([]);
        const progress = (/** @type {number} */ seeds) => seen.push(seeds);
        assert.deepEqual(report, await explore(late, { seeds: 40, tabs: 1, progress }));
        assert.deepEqual(seen, [1, 2, 3], 'the progress counts the broken seed, too');
    });

    it('failures of two blocks that do not repeat keep no block from being run', async () => {
        const once = moduleOf(`import { isMainThread } from 'node:worker_threads';
            export const scenario = (tab, { seed }) => {
                if (!isMainThread && (seed === 3 || seed === 20)) throw new Error('only here');
            };`);
        const report = await explore(once, { workers: 2, seeds: 60, tabs: 1, exhaust: 0 });
        assert.deepEqual([report.verdict, report.seeds], ['inconclusive', 60]);
    });

    it('a signal ends the threads, and the failure of a thread is that of the exploration', async () => {
        const controller = new AbortController();
        const reason = new Error('enough');
        const endless = { seeds: 1e6, storage: /** @type {const} */ ('interleaved'), workers: 2 };
        const progress = (/** @type {number} */ seeds) => seeds === 20 && controller.abort(reason);
        const { signal } = controller;
        await assert.rejects(explore(lostUpdate, { ...endless, exhaust: 0, signal, progress }), reason);
        assert.deepEqual(getEventListeners(signal, 'abort'), []);
        const exits = moduleOf(`import { isMainThread } from 'node:worker_threads';
            export const scenario = () => { if (!isMainThread) process.exit(3); };`);
        await assert.rejects(explore(exits, { workers: 2, exhaust: 0 }), {
            code: 'unavailable',
            message: /code 3/,
        });
        const throws = moduleOf(`import { isMainThread } from 'node:worker_threads';
            if (!isMainThread) throw new Error('not here');
            export const scenario = () => {};`);
        await assert.rejects(explore(throws, { workers: 2, exhaust: 0 }), (/** @type {any} */ error) => {
            assert.ok(error instanceof TabacusError);
            assert.deepEqual([error.code, error.argument], ['invalid-argument', 'scenario']);
            assert.match(error.message, /not here/);
            return true;
        });
        const lists = moduleOf(`import { isMainThread } from 'node:worker_threads';
            const error = Object.assign(new Error('no list'), { code: 'OF_THE_THREAD', call() {} });
            if (!isMainThread) Error.prototype.toString = () => { throw error; };
            export const scenario = (tab) => { if (!isMainThread) tab.origin.step = () => { throw error; }; };`);
        await assert.rejects(explore(lists, { workers: 2, exhaust: 0 }), { code: 'OF_THE_THREAD' });
    });

    it('what threads cannot share is refused beside `workers`', async () => {
        /** @type {[argument: string, scenario: any, options: object][]} */
        const refused = [
            ['workers', lostUpdate, { workers: 0 }],
            ['workers', lostUpdate, { workers: 65 }],
            ['workers', lostUpdate, { workers: true }],
            ['scenario', increments, { workers: 2 }],
            ['scenario', 'localStorage.clear()', { workers: 2 }],
            ['invariant', lostUpdate, { workers: 2, invariant: twoAdded }],
            ['setup', lostUpdate, { workers: 2, setup: busySetup }],
            ['fakeIndexedDB', lostUpdate, { workers: 2, fakeIndexedDB: {} }],
        ];
        for (const [argument, scenario, options] of refused)
            await assert.rejects(
                explore(scenario, options),
                { code: 'invalid-argument', argument },
                argument,
            );
    });
});

describe('the host', () => {
    it('`progress: true` draws a line on a terminal, and nothing elsewhere', async (t) => {
        const { stderr } = process;
        const written = /** @type {string[]} */ ([]);
        t.mock.method(stderr, 'write', (/** @type {string} */ text) => written.push(text) > 0);
        let now_ms = 0;
        t.mock.method(performance, 'now', () => (now_ms += 100));
        const { isTTY } = stderr;
        const options = { progress: true, seeds: 10, storage: /** @type {const} */ ('interleaved') };
        try {
            stderr.isTTY = false;
            await explore(increments, options);
            assert.equal(written.length, 0);
            stderr.isTTY = true;
            await explore(increments, options);
        } finally {
            stderr.isTTY = isTTY;
        }
        const lines = written.map((text) => text.replace('\r\u001b[K', ''));
        assert.deepEqual(lines.slice(0, 2), [
            '3 of 10 seeds, 10 a second, 1 s left',
            '6 of 10 seeds, 10 a second, 1 s left',
        ]);
        assert.deepEqual([lines.length, lines.at(-1)], [4, '']);
        await assert.rejects(explore(increments, { progress: /** @type {any} */ (1) }), {
            argument: 'progress',
        });
    });

    it('Node warns of no leak, however many listeners, tabs, locks and explorations there are', () => {
        const source = `
            import events from 'node:events';
            import { createOrigin, explore } from 'tabacus/emulator';
            const listens = (target, type) => {
                for (let at = 0; at < 20; ++at) target.addEventListener(type, () => at);
            };
            const { signal } = new AbortController();
            const scenario = async ({ window }) => {
                const { signal } = new window.AbortController();
                listens(window, 'storage');
                listens(window.document, 'click');
                listens(new window.BroadcastChannel('c'), 'message');
                listens(new window.MessageChannel().port1, 'message');
                listens(new window.EventTarget(), 'own');
                listens(signal, 'abort');
                const names = Array.from({ length: 20 }, (_, at) => 'lock ' + at);
                await Promise.all(names.map((name) => window.navigator.locks.request(name, { signal }, () => {})));
            };
            const invariant = () => new Promise((done) => setImmediate(done));
            const options = { tabs: 12, seeds: 1, signal, invariant };
            await Promise.all(Array.from({ length: 15 }, () => explore(scenario, options)));
            const origin = await createOrigin();
            const { window } = origin.openTab();
            listens(window, 'storage');
            for (let at = 0; at < 20; ++at) window.navigator.locks.request('n' + at, { signal }, () => {});
            await origin.settled();
            await explore(${JSON.stringify(lostUpdate.href)}, { workers: 12, seeds: 12, signal });
            console.log(events.defaultMaxListeners);`;
        const { stdout, stderr } = spawnSync(
            process.execPath,
            ['--trace-warnings', '--input-type=module', '--eval', source],
            { encoding: 'utf8', cwd: new URL('.', import.meta.url) },
        );
        assert.deepEqual([stdout, stderr], ['10\n', '']);
    });

    it('the blobs of a tab end with it', async () => {
        const origin = await createOrigin();
        const tab = origin.openTab();
        const { Blob, URL } = tab.window;
        const url = URL.createObjectURL(new Blob(['text']));
        assert.ok(resolveObjectURL(url));
        tab.kill();
        assert.equal(resolveObjectURL(url), undefined);
        origin.close();
    });

    it('many seeds leave nothing behind: no memory of WebAssembly, no origin, no listener', async (t) => {
        setFlagsFromString('--expose-gc');
        const gc = runInNewContext('gc');
        /** @type {WebAssembly.Memory[]} */
        const memories = [];
        const { instantiate } = WebAssembly;
        t.mock.method(WebAssembly, 'instantiate', async (/** @type {any[]} */ ...given) => {
            const instance = await Reflect.apply(instantiate, WebAssembly, given);
            const exported = Object.values((instance.instance ?? instance).exports);
            memories.push(...exported.filter((value) => value instanceof WebAssembly.Memory));
            return instance;
        });
        const { signal } = new AbortController();
        /** @type {WeakRef<object>[]} */
        const origins = [];
        const invariant = (/** @type {import('tabacus/emulator').InvariantContext} */ { origin }) => {
            origins.push(new WeakRef(origin));
        };
        const wasm = readFileSync(new URL('../../dist/node/emulator.wasm', import.meta.url));
        const sizes = [];
        for (const seeds of [20, 200]) {
            const others = memories.length; // Node has programs of its own
            const report = await explore(everything, { seeds, faults: ['kill'], invariant, signal, wasm });
            assert.equal(report.failure, '');
            await new Promise((done) => setImmediate(done));
            gc();
            sizes.push(memories[others]?.buffer.byteLength);
        }
        assert.ok(Number(sizes[0]) > 0);
        assert.equal(sizes[1], sizes[0]);
        assert.ok(origins.length >= 220);
        const alive = origins.filter((origin) => origin.deref()).length;
        assert.ok(alive <= 60, `${alive} are alive`); // Node collects the latest blobs, with their origins, later
        assert.deepEqual(getEventListeners(signal, 'abort'), []);
    });
});

/** Uses a lock, a channel, storage, a worker, a frame and a timer. @param {Parameters<Scenario>[0]} tab */
async function everything({ window }) {
    const { document, localStorage, navigator } = window;
    const channel = new window.BroadcastChannel('c');
    channel.onmessage = () => localStorage.setItem('received', 'yes');
    window.addEventListener('storage', () => localStorage.getItem('received'));
    const worker = new window.Worker(window.URL.createObjectURL(new window.Blob(['postMessage(1)'])));
    worker.onmessage = () => worker.terminate();
    const frame = document.body.appendChild(document.createElement('iframe'));
    frame.contentWindow.sessionStorage.setItem('of', 'a frame');
    await navigator.locks.request('l', () => channel.postMessage({ some: ['data'] }));
    await new Promise((done) => window.setTimeout(done, 3));
    frame.remove();
}
