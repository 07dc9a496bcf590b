/** The JavaScript of one build of the package refuses the wasm of another. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, TabacusError } from 'tabacus';
import { build } from '../../js/core/generated/build.js';
import { testOrigin } from './test-origin.js';
import { wasmOf } from './program.js';

/** The name of another build, with as many letters as the name of this one. */
const other = `0.1.9-${'0'.repeat(build.length - '0.1.9-'.length)}`;

/** The first piece of the program, with the name of another build in it. */
function ofAnotherBuild() {
    const bytes = Buffer.from(wasmOf('counters'));
    const at = bytes.lastIndexOf(build);
    assert.ok(at > 0, 'the piece names its build');
    bytes.write(other, at);
    return bytes;
}

const mismatch = (/** @type {any} */ error) =>
    error instanceof TabacusError &&
    error.code === 'version-mismatch' &&
    error.message.includes(`counters.wasm is of the build ${other}-`) &&
    error.message.includes(`the JavaScript of ${build}: all files must come from one build`);

test('wasm of another build is refused by an error that names both builds', async (t) => {
    const origin = await testOrigin();
    const window = origin.window();
    await assert.rejects(open({ window, wasm: ofAnotherBuild() }), mismatch);
    const tab = await open({ window });
    t.after(() => tab.close());
    tab.counter('n').add(1);
    await tab.counter('n').flush();
});

test('wasm that names no build is refused as a file of another package', async () => {
    const bytes = Buffer.from(wasmOf('counters'));
    const at = bytes.lastIndexOf(`build${build}`);
    assert.ok(at > 0, 'the piece has the name of the section, followed by the name of the build');
    bytes.write('other', at);
    const window = (await testOrigin()).window();
    await assert.rejects(open({ window, wasm: bytes }), {
        code: 'invalid-argument',
        message: /this is not of tabacus/,
    });
});
