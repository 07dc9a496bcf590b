/** The published limits of what a page loads. `npm run bench -- --only payload` tells file by file. */

import assert from 'node:assert/strict';
import { it } from 'node:test';

import { inChromium } from '../../bench/lib/context.js';
import { LIMITS_KB, loaded } from '../../bench/rows/payload.js';
import { describeIn, ENGINES } from '../browser/harness/engines.js';

describeIn([ENGINES.chromium], 'What a page loads, by brotli', () => {
    for (const build of /** @type {const} */ (['single', 'threads'])) {
        it(`${build}: at most ${LIMITS_KB[build]} KB`, async () => {
            const files = await inChromium((context) => loaded(context, build));
            const wasm = files.filter(({ file }) => file.endsWith(`/${build}.wasm`));
            assert.equal(wasm.length, 1, 'it must have counted');
            const bytes = files.reduce((sum, one) => sum + one.bytes, 0);
            const list = files.map((one) => `${one.file} ${one.bytes}`).join('\n');
            assert.ok(bytes <= LIMITS_KB[build] * 1024, `${bytes} bytes:\n${list}`);
        });
    }
});
