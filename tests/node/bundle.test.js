/** The files of the package: which file imports which, and that two builds make the same bytes. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { SourceMap } from 'node:module';
import { pathToFileURL } from 'node:url';
import { parse } from 'acorn';
import { simple } from 'acorn-walk';
import { bundled } from '../../scripts/lib/bundle.js';
import { distFolder } from '../../scripts/lib/paths.js';

const PLATFORMS = /** @type {const} */ (['web', 'node']);

const PARTS = ['tabacus.js', 'locks.js'];

/**
 * What each file imports, as docs/architecture.md lists it. A page waits for these files before it runs.
 *
 * @type {Record<string, string[]>}
 */
const IMPORTS = {
    'tabacus.js': [],
    'locks.js': ['tabacus.js'],
    'queue.js': PARTS,
    'limits.js': PARTS,
    'transfer.js': ['tabacus.js'],
    'catalogue.js': ['locks.js'],
    'tabacus-compat-locks.js': ['tabacus.js'],
    'tabacus-compat-leadership.js': ['tabacus-compat-locks.js'],
    'tabacus-compat-browser-tabs-lock.js': ['tabacus-compat-locks.js'],
    'tabacus-polyfill.js': ['tabacus-compat-locks.js', 'tabacus.js'],
    'tabacus-service-worker.js': [...PARTS, 'queue.js', 'limits.js', 'transfer.js', 'catalogue.js'],
    'tabacus-worker.js': [],
    'tabacus-threads.js': ['tabacus-worker.js'],
    'threads-segments.js': ['tabacus-worker.js'],
    'threads-serve.js': ['tabacus-worker.js', 'threads-segments.js', 'tabacus-threads.js'],
    'threads-program.js': ['tabacus-worker.js', 'tabacus-threads.js'],
    'threads-tab-locks.js': [],
    'threads-worker.js': [],
    'tabacus-lab.js': [],
    'emulator-runs.js': [],
    'emulator-worker.js': ['emulator-runs.js'],
    'tabacus-emulator.js': ['emulator-runs.js'],
};

/**
 * The files of the package that a file loads.
 *
 * @param {string} text of the file
 * @returns {{ imports: string[], asked: string[] }} those that it imports statically, and those that it imports later
 *     or starts as a Worker
 */
function linksOf(text) {
    const imports = new Set();
    const asked = new Set();
    /** @param {any} node */
    const add = ({ source }) => source && imports.add(source.value);
    simple(parse(text, { ecmaVersion: 2022, sourceType: 'module' }), {
        ImportDeclaration: add,
        ExportNamedDeclaration: add,
        ExportAllDeclaration: add,
        ImportExpression: ({ source }) => void asked.add(/** @type {any} */ (source).value),
        NewExpression(/** @type {any} */ { callee, arguments: [address] }) {
            if (callee.name === 'URL' && /\.js$/.test(address.value ?? '')) asked.add(address.value);
        },
    });
    const ours = (/** @type {Set<any>} */ all) =>
        [...all].filter((name) => name?.startsWith('./')).map((name) => name.slice(2));
    return { imports: ours(imports), asked: ours(asked) };
}

for (const platform of PLATFORMS) {
    /** @param {string} name */
    const read = (name) => readFileSync(join(distFolder, platform, name), 'utf8');

    test(`each file imports the files that architecture.md lists, and no others (${platform})`, () => {
        for (const [name, expected] of Object.entries(IMPORTS))
            assert.deepEqual(linksOf(read(name)).imports.sort(), [...expected].sort(), name);
    });

    test(`a Worker loads no file that belongs to its page (${platform})`, () => {
        const seen = new Set(['tabacus-worker.js', 'threads-worker.js']);
        for (const name of seen) {
            const { imports, asked } = linksOf(read(name));
            for (const other of [...imports, ...asked]) seen.add(other);
        }
        assert.deepEqual([...seen].sort(), [
            'tabacus-worker.js',
            'threads-segments.js',
            'threads-tab-locks.js',
            'threads-worker.js',
        ]);
    });

    test(`the Worker of an exploration does not load the file that starts it (${platform})`, () => {
        assert.deepEqual(linksOf(read('tabacus-emulator.js')).asked, ['emulator-worker.js']);
        for (const name of ['emulator-worker.js', 'emulator-runs.js'])
            assert.deepEqual(linksOf(read(name)).asked, [], name);
        assert.match(read('emulator-runs.js'), /import\([^()]*webpackIgnore[^()]*@vite-ignore[^()]*\)/);
    });

    test(`the glue has neither XMLHttpRequest nor advice of Emscripten's in it (${platform})`, () => {
        for (const name of ['tabacus.js', 'locks.js'])
            assert.doesNotMatch(read(name), /ASSERTIONS|XMLHttpRequest/);
    });

    test(`a source map leads from a place in a file to the line that it was made from (${platform})`, () => {
        const text = read('tabacus.js');
        const map = new SourceMap(JSON.parse(read('tabacus.js.map')));
        const lines = text.split('\n');
        const marker = 'open() another';
        const line = lines.findIndex((one) => one.includes(marker));
        const entry = /** @type {any} */ (map.findEntry(line, String(lines[line]).indexOf(marker)));
        assert.match(entry.originalSource, /js\/common\/errors\.js$/);
        const at = map.payload.sources.indexOf(entry.originalSource);
        const source = /** @type {any} */ (map.payload).sourcesContent[at].split('\n')[entry.originalLine];
        assert.ok(source.includes(marker), source);
    });
}

test('files of two builds do not link: a call that needs a file of the other build rejects with `unavailable`', async (t) => {
    const folder = await mkdtemp(join(tmpdir(), 'tabacus-builds-'));
    t.after(() => rm(folder, { recursive: true }));
    await cp(join(distFolder, 'node'), folder, { recursive: true });
    const page = join(folder, 'tabacus.js');
    await writeFile(page, readFileSync(page, 'utf8').replace(/build_\w+/, 'build_other'));
    /** @type {typeof import('tabacus')} */
    const { open } = await import(pathToFileURL(page).href);
    const tab = await open();
    assert.equal(tab.counter('visits').add(1), 1);
    const refused = await tab
        .lock('cart')
        .run(() => {})
        .catch((error) => error);
    assert.equal(refused.code, 'unavailable');
    assert.match(String(refused.cause), /build_/);
    await tab.close();
});

test('a second build makes the bytes of the first', async () => {
    for (const [name, text] of await bundled('web'))
        assert.ok(
            text === readFileSync(join(distFolder, 'web', name), 'utf8'),
            `${name}: was dist/ built from js/?`,
        );
});
