/** JavaScript and wasm of two builds of the package are told apart. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { open, TabacusError } from 'tabacus';
import { checkBuild } from '../../js/core/check-build.js';
import { buildNumber } from '../../js/core/generated/build.js';
import { LockOrigin } from './fake-locks.js';
import { FakeOrigin } from './fake-origin.js';
import { wasmOf } from './program.js';

const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));

/** @param {number} number */
function float64(number) {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(number);
    return bytes;
}

/** Version 0.1.9, and a hash. */
const other = (2 ** 10 + 9) * 2 ** 24 + 0x00abcd;

/** The first piece of the program, which says that it is of another build. */
function ofAnotherBuild() {
    const bytes = Buffer.from(wasmOf('counters'));
    const at = bytes.indexOf(float64(buildNumber));
    assert.ok(at > 0 && bytes.indexOf(float64(buildNumber), at + 1) < 0, 'the number is there once');
    float64(other).copy(bytes, at);
    return bytes;
}

const mismatch = (/** @type {any} */ error) =>
    error instanceof TabacusError &&
    error.code === 'version-mismatch' &&
    error.message.includes(`the JavaScript is of tabacus ${version} (build `) &&
    error.message.includes('the wasm is of tabacus 0.1.9 (build 00abcd)') &&
    error.message.includes('all files must come from one build');

test('wasm of another build is refused by an error that names both builds', async (t) => {
    const origin = new FakeOrigin();
    const window = origin.window({ navigator: { locks: new LockOrigin().manager('the tab') } });
    await assert.rejects(open({ window, wasm: ofAnotherBuild() }), mismatch);
    const tab = await open({ window });
    t.after(() => tab.close());
    tab.counter('n').add(1);
    await tab.counter('n').flush();
});

test('wasm of a build that cannot be told is refused, too', () => {
    const readers = [
        () => {
            throw new WebAssembly.RuntimeError('unreachable');
        },
        () => undefined,
        () => 0,
        () => NaN,
    ];
    for (const read of readers)
        assert.throws(() => checkBuild(read), {
            code: 'version-mismatch',
            message: /and the wasm is of another build: all files must come from one build/,
        });
    checkBuild(() => buildNumber);
});
