/** The weight of the files that a page loads may not grow. `npm run bench -- --only payload` lists the files. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { it } from 'node:test';

import { DIST, inChromium } from '../../bench/lib/context.js';
import { brotliBytes, loaded } from '../../bench/rows/payload.js';
import { pieces } from '../../bridge/exports.js';
import { describeIn, ENGINES } from '../browser/harness/engines.js';

/** Ceilings, in KiB of brotli, just above the weights of the files. README (Measured) has the targets. */
const CEILINGS_KB = {
    /**
     * The wasm that a page has loaded, with one more feature in each row.
     *
     * @type {[row: string, pieces: string[], most: number][]}
     */
    wasm: [
        ['of that, wasm of the counters', ['counters'], 25.5],
        ['wasm of counters and a lock', ['counters', 'locks'], 75.5],
        ['wasm of counters, a lock and a queue', ['counters', 'locks', 'queue'], 118],
        ['wasm of everything that a tab has', Object.keys(pieces), 186.7],
    ],
    /** The JavaScript of the first page, and all files that a page of counters loads. */
    script: 18.8,
    counters: 44.2,
    /** The JavaScript of all features of a tab. */
    scripts: 35.8,
    /** The program of C++ threads, and the pages of threads(): with a counter, and with a Worker and a C++ thread. */
    threads: { program: 8.7, counter: 61.1, page: 74.9 },
    /** All files that a Worker loads in order to attach to shared memory. Its page sends it the module. */
    worker: 8.6,
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

it(`the JavaScript of all features of a tab weighs at most ${CEILINGS_KB.scripts} KB`, () => {
    assertWeighs(
        ['tabacus.js', 'locks.js', 'queue.js', 'limits.js', 'transfer.js', 'catalogue.js'],
        CEILINGS_KB.scripts,
    );
});

it(`a Worker that attaches loads at most ${CEILINGS_KB.worker} KB`, () => {
    assertWeighs(['tabacus-worker.js'], CEILINGS_KB.worker);
});

it(`the program of C++ threads weighs at most ${CEILINGS_KB.threads.program} KB`, () => {
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

/** The greatest difference between a weight in the README and the measured one. */
const SLACK_KB = 0.3;

/**
 * @param {{ bytes: number }[]} files
 * @param {string} row the beginning of its row in the README, as a pattern
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

describeIn([ENGINES.chromium], 'The weight of the files that a page loads, by brotli', () => {
    it(`a page of counters loads at most ${CEILINGS_KB.counters} KB, and the same files if it is isolated`, async () => {
        const [plain, isolated] = await inChromium(async (context) => [
            await loaded(context, 'count', { isolated: false }),
            await loaded(context, 'count', { isolated: true }),
        ]);
        assert.deepEqual(wasmOf(plain), ['counters.wasm'], 'the other modules are loaded by their first use');
        assert.deepEqual(new Set(isolated.map(({ file }) => file)), new Set(plain.map(({ file }) => file)));
        assertWeight(plain, CEILINGS_KB.counters);
        assertStated(plain, 'what a page of counters loads');
        assertWeight(
            plain.filter(({ file }) => file.endsWith('.js')),
            CEILINGS_KB.script,
        );
    });

    it(`a page with counters of a tab and of threads() loads at most ${CEILINGS_KB.threads.counter} KB`, async () => {
        const files = await inChromium((context) => loaded(context, 'countShared'));
        assert.deepEqual(wasmOf(files), ['attach.wasm', 'counters.wasm']);
        assertWeight(files, CEILINGS_KB.threads.counter);
        assertStated(files, 'the same with a counter of `threads\\(\\)`');
    });

    it(`a page with such counters, a Worker and a C++ thread loads at most ${CEILINGS_KB.threads.page} KB`, async () => {
        const files = await inChromium((context) => loaded(context, 'countInThreads'));
        assert.deepEqual(wasmOf(files), ['attach.wasm', 'counters.wasm', 'threads.wasm']);
        assertWeight(files, CEILINGS_KB.threads.page);
    });
});
