/** Work of the host: its completion is an event of the schedule, however fast the host is. */

import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { Worker } from 'node:worker_threads';
import { createOrigin, explore, replay } from 'tabacus/emulator';

/** What a tab notes about the order of its results, which other tabs see at once. */
const order = `const note = (what) => { localStorage.order = (localStorage.order ?? '') + what; };`;
const bytes = `const bytes = new Uint8Array(1000);`;

/** @type {Record<string, string>} scripts in which several works are under way at once */
const scenarios = {
    'crypto.subtle': `${order} ${bytes}
        (async () => {
            const { subtle } = crypto;
            const key = await subtle.generateKey({ name: 'AES-GCM', length: 256 }, true, ['encrypt', 'decrypt']);
            const mac = await subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
            await Promise.all([
                subtle.digest('SHA-256', bytes).then(() => note('d')),
                subtle.encrypt({ name: 'AES-GCM', iv: bytes.slice(0, 12) }, key, bytes).then(() => note('e')),
                subtle.sign('HMAC', mac, bytes).then(() => note('s')),
                navigator.locks.request('l', () => note('l')),
            ]);
        })()`,
    streams: `${order}
        (async () => {
            const pack = (text, format) =>
                new Response(new Blob([text]).stream().pipeThrough(new CompressionStream(format))).arrayBuffer();
            const unpack = (packed, format) =>
                new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream(format))).text();
            await Promise.all(['gzip', 'deflate-raw'].map(async (format) => {
                const text = format.repeat(5000);
                if ((await unpack(await pack(text, format), format)) !== text) throw new Error(format);
                note(format.at(0));
            }));
        })()`,
    WebAssembly: `${order}
        (async () => {
            const wasm = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);
            const response = () => new Response(wasm, { headers: { 'content-type': 'application/wasm' } });
            await Promise.all([
                WebAssembly.compile(wasm).then(() => note('c')),
                WebAssembly.instantiate(wasm).then(({ instance }) => instance.exports && note('i')),
                WebAssembly.instantiate(new WebAssembly.Module(wasm)).then(({ exports }) => exports && note('m')),
                WebAssembly.compileStreaming(response()).then(() => note('s')),
                WebAssembly.instantiateStreaming(Promise.resolve(response())).then(() => note('r')),
            ]);
        })()`,
    'import()': `${order}
        (async () => {
            const load = async (what, at) => { await import(what); note(at); };
            const text = (at) => 'data:text/javascript,export default ' + at + Math.random();
            await Promise.all([load(text(1), 1), load('node:zlib', 2), load(text(3), 3),
                navigator.locks.request('l', () => note('l'))]);
        })()`,
    'keys of RSA': `${order} ${bytes}
        (async () => {
            const algorithm = { name: 'RSA-OAEP', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' };
            await Promise.all([
                crypto.subtle.generateKey(algorithm, false, ['encrypt', 'decrypt']).then(() => note('k')),
                crypto.subtle.digest('SHA-1', bytes).then(() => note('d')),
                navigator.locks.request('l', () => note('l')),
            ]);
        })()`,
    'databases beside a hash': `${order} ${bytes}
        (async () => {
            const opening = indexedDB.open('d', 1);
            opening.onupgradeneeded = () => {
                const store = opening.result.createObjectStore('s');
                for (let at = 0; at < 5; ++at) store.put(at, at);
            };
            const open = new Promise((resolve) => { opening.onsuccess = () => resolve(note('o')); });
            const hashes = [1, 2].map((at) => crypto.subtle.digest('SHA-1', bytes).then(() => note(at)));
            await Promise.all([open, ...hashes]);
            const store = opening.result.transaction('s', 'readwrite').objectStore('s');
            await new Promise((resolve) => { store.put(1, 'k').onsuccess = resolve; });
            await crypto.subtle.digest('SHA-1', bytes);
        })()`,
    'workers and frames by the URLs of blobs': `${order} ${bytes}
        (async () => {
            const url = URL.createObjectURL(new Blob(['postMessage(1)']));
            const frame = document.createElement('iframe');
            frame.src = URL.createObjectURL(new Blob(['<p>'], { type: 'text/html' }));
            const loaded = new Promise((resolve) => { frame.onload = () => resolve(note('f')); });
            document.body.append(frame);
            const worker = new Worker(url);
            const answered = new Promise((resolve) => { worker.onmessage = () => resolve(note('w')); });
            await Promise.all([loaded, answered, crypto.subtle.digest('SHA-1', bytes).then(() => note('d'))]);
        })()`,
};

/** How many seeds the scenarios run that need long. @type {Record<string, number>} */
const fewSeeds = { 'keys of RSA': 2 };

describe('work of the host', () => {
    /** @type {Worker} */
    let busy;
    before(() => (busy = new Worker('for (;;);', { eval: true })));
    after(() => busy.terminate());

    for (const [name, scenario] of Object.entries(scenarios)) {
        it(`${name}: equal explorations on a busy machine are equal`, async () => {
            /** @type {string[]} */
            const orders = [];
            const run = () =>
                explore(scenario, {
                    seeds: fewSeeds[name] ?? 20,
                    storage: 'mutexed',
                    invariant: ({ origin }) => void orders.push(origin.openTab().window.localStorage.order),
                });
            const [first, second] = [await run(), await run()];
            assert.equal(first.failure, '');
            assert.deepEqual(first, second);
            assert.ok(new Set(orders).size > 1, 'the schedule chooses the order');
            assert.deepEqual(orders.slice(0, orders.length / 2), orders.slice(orders.length / 2));
        });
    }

    it('the trace shows the beginning and the completion of works', async () => {
        const { trace = '', story = '' } = await explore(
            scenarios['workers and frames by the URLs of blobs'] ?? '',
            {
                tabs: 1,
                seeds: 1,
                invariant: () => false,
            },
        );
        for (const work of ['crypto.subtle.digest()', 'the script of a worker', 'the document of a frame']) {
            assert.ok(trace.includes(`begins ${work}`), trace);
            assert.ok(trace.includes(`${work} completes`), trace);
        }
        for (const work of ["'s crypto.subtle.digest() completes", ' receives the script of a worker'])
            assert.ok(story.includes(`tab 1${work}`), story);
    });

    it('import() of a scenario that is a closure: the first exploration equals the second', async () => {
        const fresh = (/** @type {string} */ name) =>
            new URL(`../../js/emulator/common/${name}.js?fresh`, import.meta.url).href;
        /** @type {import('tabacus/emulator').Scenario} */
        const scenario = async ({ window }) => {
            const { localStorage, navigator } = window;
            const note = (/** @type {unknown} */ what) =>
                (localStorage.order = `${localStorage.order ?? ''}${what}`);
            const first = import(fresh('seeded-random')).then(() => note(1));
            const second = import(fresh('handle-table'))
                .then(() => import(fresh('describe')))
                .then(() => note(2));
            const waiting = 'data:text/javascript,await new Promise((done) => setTimeout(done, 30))';
            const third = import(waiting).then(() => note(3));
            await Promise.all([first, second, third, navigator.locks.request('l', () => note('l'))]);
        };
        const options = /** @type {const} */ ({ seeds: 20, storage: 'mutexed' });
        const report = await explore(scenario, options);
        assert.equal(report.failure, '');
        assert.deepEqual(report, await explore(scenario, options));
    });

    it('a broken run replays', async () => {
        const scenario = `${order} ${bytes}
            Promise.all([
                crypto.subtle.digest('SHA-256', bytes).then(() => note('d')),
                navigator.locks.request('l', () => note('l')),
            ])`;
        const invariant = (/** @type {import('tabacus/emulator').InvariantContext} */ { origin }) =>
            origin.openTab().window.localStorage.order.startsWith('ld') || 'the hash came first';
        const report = await explore(scenario, { seeds: 50, storage: 'mutexed', invariant });
        assert.equal(report.failure, 'the hash came first');
        const again = await replay(scenario, report, { storage: 'mutexed', invariant });
        assert.deepEqual(
            [again.failure, again.trace, again.hash],
            [
                report.failure,
                report.trace,
                (await replay(scenario, report, { storage: 'mutexed', invariant })).hash,
            ],
        );
    });
});

describe('interfaces of the host in a tab', () => {
    /** @param {string} script @param {import('tabacus/emulator').CreateOriginOptions} [options] */
    const inTab = async (script, options) => {
        const origin = await createOrigin(options);
        try {
            return await origin.openTab().run(script);
        } finally {
            origin.close();
        }
    };

    it('crypto and crypto.subtle are objects of their interfaces, and check what they are called on', async () => {
        const script = `(async () => [
            crypto instanceof Crypto,
            crypto.subtle instanceof SubtleCrypto,
            crypto.subtle === crypto.subtle,
            String(crypto), String(crypto.subtle), crypto.subtle.digest.name, crypto.subtle.digest.length,
            await SubtleCrypto.prototype.digest.call({}, 'SHA-1', new Uint8Array()).catch((error) => error.name),
            await crypto.subtle.digest('no hash', new Uint8Array()).catch((error) => error.name),
            (() => { try { new SubtleCrypto(); } catch (error) { return error.name; } })(),
        ])()`;
        assert.deepEqual(await inTab(script), [
            ...[true, true, true, '[object Crypto]', '[object SubtleCrypto]', 'digest', 2],
            ...['TypeError', 'NotSupportedError', 'TypeError'],
        ]);
        const insecure = { url: 'http://shop.example/' };
        assert.deepEqual(await inTab(`[typeof SubtleCrypto, typeof Crypto, 'subtle' in crypto]`, insecure), [
            'undefined',
            'function',
            false,
        ]);
    });

    it('a stream refuses chunks that are no bytes, data of another format, and unknown formats', async () => {
        const script = `(async () => {
            const fails = (call) => Promise.resolve().then(call).then(String, (error) => error.name);
            const read = (stream) => new Response(stream).arrayBuffer();
            const stream = new CompressionStream('gzip');
            stream.readable.getReader().read().catch(() => {});
            return [
                await fails(() => stream.writable.getWriter().write('text')),
                await fails(() => read(new Blob(['no gzip']).stream().pipeThrough(new DecompressionStream('gzip')))),
                await fails(() => read(new Blob([]).stream().pipeThrough(new DecompressionStream('gzip')))),
                await fails(() => new CompressionStream('zip')),
                await fails(() => new CompressionStream()),
                String(stream), CompressionStream.name, CompressionStream.length,
            ];
        })()`;
        assert.deepEqual(await inTab(script), [
            ...Array(5).fill('TypeError'),
            ...['[object CompressionStream]', 'CompressionStream', 1],
        ]);
    });

    it('a stream that a tab feeds by its timers ends', async () => {
        const script = `(async () => {
            const { readable, writable } = new CompressionStream('gzip');
            const writer = writable.getWriter();
            setTimeout(() => writer.write(new Uint8Array(10)), 1000);
            setTimeout(() => writer.close(), 2000);
            return (await new Response(readable.pipeThrough(new DecompressionStream('gzip'))).arrayBuffer()).byteLength;
        })()`;
        assert.equal(await inTab(script), 10);
    });

    it('a module calls its imports in the task in which it is instantiated', async () => {
        // (module (import "e" "f" (func)) (start 0))
        const script = `(async () => {
            const wasm = new Uint8Array([
                0, 97, 115, 109, 1, 0, 0, 0, 1, 4, 1, 96, 0, 0, 2, 7, 1, 1, 101, 1, 102, 0, 0, 8, 1, 0,
            ]);
            const seen = [];
            let at = 'before';
            await Promise.all([
                WebAssembly.instantiate(wasm, { e: { f: () => seen.push(at) } }),
                crypto.subtle.digest('SHA-1', wasm).then(() => { at = 'after the hash'; }),
            ]);
            return [seen.length, await WebAssembly.instantiate(wasm, {}).catch((error) => error.name),
                await WebAssembly.compile(wasm.slice(1)).catch((error) => error.name),
                await WebAssembly.compileStreaming(new Response(wasm)).catch((error) => error.name),
                WebAssembly.instantiate.name, WebAssembly.instantiate.length, String(WebAssembly)];
        })()`;
        assert.deepEqual(await inTab(script), [
            ...[1, 'TypeError', 'CompileError', 'TypeError', 'instantiate', 1, '[object WebAssembly]'],
        ]);
    });

    it('fetch() brings the whole body, and its signal rejects it at once', async () => {
        const script = `(async () => {
            const response = await fetch('data:text/plain,hi');
            const controller = new AbortController();
            const blob = URL.createObjectURL(new Blob(['blob']));
            const fetched = fetch(blob, { signal: controller.signal });
            controller.abort(new Error('enough'));
            return [
                response.url, await response.clone().text(), await response.text(),
                await (await fetch(blob)).text(),
                await fetched.catch((error) => error.message),
                await fetch().catch((error) => error.name),
                await fetch('http://127.0.0.1:9/').catch((error) => error.name),
            ];
        })()`;
        assert.deepEqual(await inTab(script), [
            ...['data:text/plain,hi', 'hi', 'hi', 'blob', 'enough', 'TypeError', 'TypeError'],
        ]);
    });

    it('a copy of a request is read on the schedule, and a stream of the tab before that', async () => {
        const script = `(async () => {
            const url = 'https://shop.example/';
            const request = new Request(url, { method: 'POST', body: 'text' });
            const feed = new ReadableStream({
                start(controller) {
                    setTimeout(() => { controller.enqueue(new Uint8Array([104, 105])); controller.close(); }, 1000);
                },
            });
            const streamed = new Request(url, { method: 'POST', body: feed, duplex: 'half' });
            const fails = (call) => Promise.resolve().then(call).then(String, (error) => error.name);
            const texts = new ReadableStream({ start(to) { to.enqueue('text'); to.close(); } });
            const used = new Response(new Blob(['x']).stream());
            return [
                await new Request(request.clone()).text(),
                await new Request(url, request.clone()).text(),
                await new Request(new Request(request, { body: 'other' })).text(),
                await new Request(streamed).text(),
                await fails(() => new Request(streamed).text()),
                await fails(() => new Response(texts).text()),
                await used.text(), used.bodyUsed, await fails(() => used.text()),
                (await new Response(new Blob(['y']).stream(), { headers: { 'content-type': 'a/b' } }).blob()).type,
            ];
        })()`;
        const seen = /** @type {string[][]} */ ([]);
        const {
            verdict,
            failure,
            trace = '',
        } = await explore(script, {
            tabs: 1,
            seeds: 1,
            invariant: ({ results }) => (seen.push(/** @type {any} */ (results[0])), false),
        });
        assert.deepEqual([verdict, failure], ['broken', 'the invariant does not hold']);
        assert.deepEqual(seen[0], [
            'text',
            'text',
            'other',
            'hi',
            ...['TypeError', 'TypeError', 'x', true, 'TypeError', 'a/b'],
        ]);
        assert.equal(trace.match(/begins Request\.text\(\)/g)?.length, 4, trace);
    });

    it('import() resolves as in the package, and other uses of the word stay', async () => {
        const script = `(async () => {
            /* import('comment') */
            const object = { import(what) { return 'method ' + what; } };
            class Static { static import (what) { return what; } }
            const texts = ["import('text')", String(/import(x)/), object.import(1), object?.import(2), Static.import(3)];
            const { basename } = await import('node:path');
            return [
                ...texts, basename('/a/b'), \`\${(await import('data:text/javascript,export default 4')).default}\`,
                await import('nowhere-to-be-found').catch((error) => error.code),
                await import({ toString() { throw new Error('conversion'); } }).catch((error) => error.message),
            ];
        })()`;
        assert.deepEqual(await inTab(script), [
            ...["import('text')", '/import(x)/', 'method 1', 'method 2', 3, 'b', '4'],
            ...['ERR_MODULE_NOT_FOUND', 'conversion'],
        ]);
        const module = `export const { sep } = await import('node:path');`;
        assert.equal((await inTab(module)).sep.length, 1);
        const origin = await createOrigin();
        const load = async (/** @type {string} */ what) => (await import(what)).default;
        assert.equal(await origin.openTab().run(load, 'data:text/javascript,export default 5'), 5);
        origin.close();
    });

    it('a frozen tab receives a result when it thaws, and a dead one never', async () => {
        const origin = await createOrigin({ seed: 1 });
        const [frozen, killed] = [origin.openTab(), origin.openTab()];
        for (const { window } of [frozen, killed]) {
            window.results = [];
            window.crypto.subtle.digest('SHA-1', new Uint8Array()).then(() => window.results.push('hash'));
        }
        const frame = frozen.openFrame();
        let inFrame = 0;
        frame.window.crypto.subtle.digest('SHA-1', new Uint8Array()).then(() => ++inFrame);
        frozen.closeFrame(frame);
        frozen.freeze();
        killed.kill();
        await origin.settled();
        assert.deepEqual([frozen.window.results, killed.window.results, inFrame], [[], [], 0]);
        frozen.thaw();
        await origin.settled();
        assert.deepEqual([frozen.window.results, killed.window.results, inFrame], [['hash'], [], 0]);
        origin.close();
    });

    it('track() puts other work on the schedule', async () => {
        const origin = await createOrigin();
        assert.throws(() => origin.track(Promise.resolve(1)), { code: 'closed' });
        origin.openTab();
        const hash = () => crypto.subtle.digest('SHA-1', new Uint8Array());
        assert.equal((await origin.track(hash())).byteLength, 20);
        await assert.rejects(origin.track(Promise.reject(new Error('no'))), /no/);
        origin.close();
    });
});
