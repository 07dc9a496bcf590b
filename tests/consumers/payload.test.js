/** What a page loads may not grow. `npm run bench -- --only payload` lists file by file, beside the target. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { it } from 'node:test';

import { DIST, inChromium } from '../../bench/lib/context.js';
import { brotliBytes, loaded } from '../../bench/rows/payload.js';
import { pieces } from '../../bridge/exports.js';
import { describeIn, ENGINES } from '../browser/harness/engines.js';

/** Ceilings, in KiB of brotli, just above what the files weigh. README (Measured) has the targets. */
const CEILINGS_KB = {
    /** What a page has loaded of the wasm, with one more feature each time. @type {[row: string, pieces: string[], most: number][]} */
    wasm: [
        ['of that, wasm of the counters', ['counters'], 24.7],
        ['wasm of counters and a lock', ['counters', 'locks'], 69.8],
        ['wasm of counters, a lock and a queue', ['counters', 'locks', 'queue'], 107.8],
        ['wasm of everything that a tab has', Object.keys(pieces), 175],
    ],
    /** The JavaScript of the first page, and all that a page of counters loads. */
    script: 16,
    counters: 40,
    /** The JavaScript of everything that a tab has. */
    scripts: 30,
    /** The program of C++ threads, and the pages of threads(): with a counter, and with a Worker and a C++ thread. */
    threads: { program: 7.4, counter: 50.5, page: 64.6 },
    /** All that a Worker loads which attaches to shared memory; its page sends it the module. */
    worker: 6.1,
};

/** @param {string} file */
const weighs = (file) => brotliBytes(join(DIST, 'web', file)) ?? Infinity;

/** @param {string[]} files @param {number} most_KB */
function assertWeighs(files, most_KB) {
    const bytes = files.reduce((sum, file) => sum + weighs(file), 0);
    assert.ok(bytes <= most_KB * 1024, `${bytes} bytes`);
}

for (const [row, loadedPieces, most_KB] of CEILINGS_KB.wasm) {
    it(`${row}: at most ${most_KB} KB`, () => {
        const files = loadedPieces.map((piece) => `${piece}.wasm`);
        assertWeighs(files, most_KB);
        assertStated(
            files.map((file) => ({ bytes: weighs(file) })),
            row,
        );
    });
}

it(`everything of a tab, JavaScript alone: at most ${CEILINGS_KB.scripts} KB`, () => {
    assertWeighs(['tabacus.js', 'locks.js', 'queue.js', 'limits.js', 'catalogue.js'], CEILINGS_KB.scripts);
});

it(`a Worker that attaches: at most ${CEILINGS_KB.worker} KB`, () => {
    assertWeighs(['tabacus-worker.js'], CEILINGS_KB.worker);
});

it(`the program of C++ threads: at most ${CEILINGS_KB.threads.program} KB`, () => {
    assertWeighs(['threads.wasm'], CEILINGS_KB.threads.program);
});

/**
 * @param {{ file: string, bytes: number }[]} files
 * @param {number} most_KB
 */
function assertWeight(files, most_KB) {
    const bytes = files.reduce((sum, one) => sum + one.bytes, 0);
    const list = files.map((one) => `${one.file} ${one.bytes}`).join('\n');
    assert.ok(bytes <= most_KB * 1024, `${bytes} bytes:\n${list}`);
}

/** How far what the README says may be from what is measured. */
const SLACK_KB = 0.3;

/**
 * @param {{ bytes: number }[]} files
 * @param {string} row how its row in the README begins
 */
function assertStated(files, row) {
    const text = readFileSync(join(DIST, '../README.md'), 'utf8');
    const [, stated] = new RegExp(`^\\| ${row}[^|]*\\| ([\\d.]+) KiB`, 'm').exec(text) ?? [];
    const measured = files.reduce((sum, one) => sum + one.bytes, 0) / 1024;
    const good = Math.abs(Number(stated) - measured) <= SLACK_KB;
    assert.ok(good, `README.md says ${stated} KiB of "${row}", and it is ${measured.toFixed(1)} KiB`);
}

/** @param {{ file: string }[]} files */
const wasmOf = (files) =>
    files
        .map(({ file }) => basename(file))
        .filter((name) => name.endsWith('.wasm'))
        .sort();

describeIn([ENGINES.chromium], 'What a page loads, by brotli', () => {
    it(`counters: at most ${CEILINGS_KB.counters} KB, and the same files whether the page is isolated or not`, async () => {
        const [plain, isolated] = await inChromium(async (context) => [
            await loaded(context, 'count', { isolated: false }),
            await loaded(context, 'count', { isolated: true }),
        ]);
        assert.deepEqual(wasmOf(plain), ['counters.wasm'], 'the other modules are for who asks for them');
        assert.deepEqual(new Set(isolated.map(({ file }) => file)), new Set(plain.map(({ file }) => file)));
        assertWeight(plain, CEILINGS_KB.counters);
        assertStated(plain, 'what a page of counters loads');
        assertWeight(
            plain.filter(({ file }) => file.endsWith('.js')),
            CEILINGS_KB.script,
        );
    });

    it(`counters of a tab, and one that threads() shares: at most ${CEILINGS_KB.threads.counter} KB`, async () => {
        const files = await inChromium((context) => loaded(context, 'countShared'));
        assert.deepEqual(wasmOf(files), ['attach.wasm', 'counters.wasm']);
        assertWeight(files, CEILINGS_KB.threads.counter);
        assertStated(files, 'the same with a counter of `threads\\(\\)`');
    });

    it(`counters that a Worker and a C++ thread share too: at most ${CEILINGS_KB.threads.page} KB`, async () => {
        const files = await inChromium((context) => loaded(context, 'countInThreads'));
        assert.deepEqual(wasmOf(files), ['attach.wasm', 'counters.wasm', 'threads.wasm']);
        assertWeight(files, CEILINGS_KB.threads.page);
    });
});
