/** How a WebAssembly file is fetched and compiled, and the messages of its errors, on a made-up platform. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from 'tabacus';
import { compileBytes, compileWasm, startFailure } from '../../js/core/compile-wasm.js';
import { imported } from '../../js/common/import-failure.js';
import { requirePlatform } from '../../js/common/require-platform.js';

const address = new URL('https://example.test/app/counters.wasm');
const empty = new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]);

/** @param {BodyInit | null} body @param {ResponseInit & { type?: string }} [init] */
const respond = (body, { type = 'application/wasm', ...init } = {}) =>
    new Response(body, { ...init, headers: { 'content-type': type } });

/**
 * A platform whose fetch() gives the answers one after another, and then the last one again and again.
 *
 * @param {(() => unknown)[]} answers
 * @param {object} [wasm] in place of the functions of WebAssembly
 * @returns {any}
 */
function platformWith(answers, wasm = {}) {
    const asked = /** @type {string[]} */ ([]);
    return {
        asked,
        setTimeout,
        clearTimeout,
        WebAssembly: Object.create(WebAssembly, Object.getOwnPropertyDescriptors(wasm)),
        fetch: async (/** @type {string} */ url) => {
            asked.push(url);
            return /** @type {() => unknown} */ (answers.length > 1 ? answers.shift() : answers[0])();
        },
    };
}

/** @param {unknown} error */
const raise = (error) => () => {
    throw error;
};

/** @param {string} code @param {...RegExp} patterns */
const failsWith =
    (code, ...patterns) =>
    (/** @type {any} */ error) => {
        assert.equal(error.code, code, error.message);
        assert.match(error.message, /https:\/\/example\.test\/app\/counters\.wasm/);
        assert.doesNotMatch(error.message, /ASSERTIONS/);
        for (const pattern of patterns) assert.match(error.message, pattern);
        return true;
    };

test('a file of the right type is compiled as it streams in, with one request', async () => {
    const platform = platformWith([() => respond(empty)]);
    assert.ok((await compileWasm(address, 'counters.wasm', { platform })) instanceof WebAssembly.Module);
    assert.deepEqual(platform.asked, [address.href]);
});

/** Lets 60 s pass, and the turn of the event loop that an answer gets after them. @param {import('node:test').TestContext} t */
function tickPastArrival({ mock }) {
    mock.timers.tick(60_000);
    mock.timers.tick(1);
}

test('a file that does not arrive is refused after 60 s, and the next call fetches it again', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const stopped = () => new ReadableStream({ start: (stream) => stream.enqueue(empty.subarray(0, 4)) });
    const hanging = [
        () => new Promise(() => {}),
        () => respond(stopped()),
        () => respond(stopped(), { type: 'application/octet-stream' }),
    ];
    for (const answer of hanging) {
        const platform = platformWith([answer, () => respond(empty)]);
        const { setTimeout: mocked, clearTimeout: clearMocked } = globalThis;
        Object.assign(platform, { setTimeout: mocked, clearTimeout: clearMocked });
        const late = assert.rejects(
            compileWasm(address, 'counters.wasm', { platform }),
            failsWith('unavailable', /no answer within 60 s; call again/),
        );
        tickPastArrival(t);
        await late;
        assert.ok((await compileWasm(address, 'counters.wasm', { platform })) instanceof WebAssembly.Module);
        assert.equal(platform.asked.length, 2);
    }
});

test('a script that does not arrive is refused after 60 s, and one that arrives keeps no timer', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const late = assert.rejects(imported(new Promise(() => {})), {
        code: 'unavailable',
        message: /a module of the package .*\(no answer within 60 s\): call again/,
    });
    tickPastArrival(t);
    await late;
    const stopTimer = t.mock.method(globalThis, 'clearTimeout');
    assert.equal(await imported(Promise.resolve('module')), 'module');
    assert.equal(stopTimer.mock.callCount(), 1);
});

test('an answer that has arrived is used, although the timer of its wait fires first', async (t) => {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    /** @type {(module: string) => void} */
    let arrive = () => {};
    const answer = imported(new Promise((resolve) => (arrive = resolve)));
    t.mock.timers.tick(60_000);
    arrive('module'); // the next task of a page that was frozen
    assert.equal(await answer, 'module');
});

test('bytes are compiled where compileStreaming or the type is missing, or fetch() gives no Response', async () => {
    const plain = { ok: true, status: 200, arrayBuffer: async () => empty.slice().buffer };
    for (const platform of [
        platformWith([() => respond(empty)], { compileStreaming: undefined }),
        platformWith([() => respond(empty, { type: 'application/octet-stream' })]),
        platformWith([() => plain]),
        platformWith([() => ({ arrayBuffer: plain.arrayBuffer })]),
        platformWith([() => ({ ...plain, headers: new Headers({ 'content-type': 'application/wasm' }) })]),
    ]) {
        assert.ok((await compileWasm(address, 'counters.wasm', { platform })) instanceof WebAssembly.Module);
    }
});

test('a file whose stream breaks is fetched again, as bytes', async () => {
    const broken = new ReadableStream({ start: (stream) => stream.error(new TypeError('network error')) });
    const platform = platformWith([() => respond(broken), () => respond(empty)]);
    assert.ok((await compileWasm(address, 'counters.wasm', { platform })) instanceof WebAssembly.Module);
    assert.equal(platform.asked.length, 2);
});

test('the error of every failure names the address, the answer, and what to do', async () => {
    const csp = "violates the following Content Security Policy directive: script-src 'self'";
    /** @type {[any, string, ...RegExp[]][]} */
    const cases = [
        [platformWith([() => respond('gone', { status: 404 })]), 'unavailable', /404/, /reload the page/],
        [platformWith([() => respond('busy', { status: 503 })]), 'unavailable', /503/, /later/],
        [
            platformWith([() => respond('<!doctype html>', { type: 'text/html' })]),
            'unavailable',
            /HTML/,
            /after a new deployment, reload the page/,
        ],
        [platformWith([() => respond('no wasm')]), 'unavailable', /7 bytes are no complete WebAssembly/],
        [platformWith([raise(new TypeError('Failed to fetch'))]), 'unavailable', /connect-src/],
        [
            { ...platformWith([raise(new TypeError('Failed to fetch'))]), navigator: { onLine: false } },
            'unavailable',
            /offline/,
        ],
        [platformWith([() => undefined]), 'unavailable', /a script has replaced fetch\(\)/],
        [
            platformWith([() => respond(empty)], {
                compileStreaming: raise(new WebAssembly.CompileError(csp)),
            }),
            'unavailable',
            /'wasm-unsafe-eval'/,
        ],
        [
            platformWith([() => respond(empty, { type: '' })], {
                compile: raise(new WebAssembly.CompileError('call to WebAssembly.compile() blocked by CSP')),
            }),
            'unavailable',
            /'wasm-unsafe-eval'/,
        ],
    ];
    for (const [platform, code, ...patterns] of cases)
        await assert.rejects(
            compileWasm(address, 'counters.wasm', { platform }),
            failsWith(code, /counters\.wasm could not be loaded/, ...patterns),
        );
});

test('an address that the caller passed and that has no file is an invalid argument', async () => {
    for (const answer of [() => respond('', { status: 404 }), () => respond('<p>'), () => respond('x')]) {
        const platform = platformWith([answer]);
        await assert.rejects(
            compileWasm(address, 'the option wasm', { platform, argument: 'wasm' }),
            failsWith('invalid-argument', /^wasm must be /),
        );
    }
    const busy = platformWith([() => respond('', { status: 503 })]);
    await assert.rejects(
        compileWasm(address, 'the option wasm', { platform: busy, argument: 'wasm' }),
        failsWith('unavailable', /503/),
    );
});

test('the error names the function that the platform lacks', async () => {
    const { WebAssembly: wasm, fetch } = platformWith([() => respond(empty)]);
    await assert.rejects(
        compileWasm(address, 'counters.wasm', { platform: /** @type {any} */ ({ fetch }) }),
        {
            code: 'unavailable',
            message: 'counters.wasm needs WebAssembly, and there is none here',
        },
    );
    /** @type {any} */
    const platform = { WebAssembly: wasm, setTimeout, clearTimeout };
    await assert.rejects(compileWasm(address, 'counters.wasm', { platform }), {
        code: 'unavailable',
        message: 'counters.wasm needs fetch, and there is none here',
    });
    assert.throws(() => requirePlatform('x', ['A', 'B'], { A: 1 }), {
        code: 'unavailable',
        message: /needs B/,
    });
    requirePlatform('x', ['A'], { A: 0 });
});

test('a lack of memory is the error out-of-memory, whatever the engine throws', async () => {
    const origin = { what: 'counters.wasm' };
    for (const cause of [
        new RangeError(
            'WebAssembly.instantiate(): Out of memory: Cannot allocate Wasm memory for new instance',
        ),
        new WebAssembly.RuntimeError('Out of memory'),
        'out of memory', // Gecko throws a string
    ])
        assert.equal(startFailure(origin, cause).code, 'out-of-memory');
    const { WebAssembly: wasm } = platformWith([], { compile: raise(new RangeError('too large')) });
    await assert.rejects(compileBytes(empty, origin, /** @type {any} */ ({ WebAssembly: wasm })), {
        code: 'out-of-memory',
    });
});

test('a file of another build is `unavailable`, or an invalid argument if it was passed as one', () => {
    const cause = new WebAssembly.LinkError('import env:memory must be an instance of WebAssembly.Memory');
    const error = startFailure({ what: 'counters.wasm' }, cause);
    assert.equal(error.code, 'unavailable');
    assert.match(error.message, /is not of tabacus \d.*deploy all files of the package/);
    const passed = startFailure({ what: 'the option wasm', argument: 'wasm', value: empty }, cause);
    assert.deepEqual([passed.code, passed.argument], ['invalid-argument', 'wasm']);
});

test('Node reads a file without fetch(), and the error names a file that does not exist', async (t) => {
    for (const name of /** @type {const} */ (['fetch', 'Response'])) {
        const native = Object.getOwnPropertyDescriptor(globalThis, name);
        Object.defineProperty(globalThis, name, { value: undefined, configurable: true });
        t.after(() => Object.defineProperty(globalThis, name, native ?? {}));
    }
    const tab = await open({ namespace: 'read', allowWeaker: true });
    await tab.lock('l').run(() => {});
    await tab.close();
    const wasm = new URL('no-such-file.wasm', import.meta.url);
    await assert.rejects(open({ namespace: 'read', wasm }), {
        code: 'invalid-argument',
        message: /^wasm must be .*no-such-file\.wasm: the answer was 404/,
    });
    await assert.rejects(open({ namespace: 'read', wasm: 'https://example.test/x.wasm' }), {
        code: 'unavailable',
        message: /needs fetch/,
    });
});
