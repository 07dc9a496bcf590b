/** What is published, and what Node, TypeScript and a tree-shaker make of it. */

import assert from 'node:assert/strict';
import { cp, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { after, before, describe, it } from 'node:test';

import { build } from 'esbuild';
import { publint } from 'publint';

import { fixtures, install, repository, run } from './package.js';
import { writeExamples } from './pages.js';

/** Everything that may be in the tarball. */
const PUBLISHED = [
    /^package\.json$/,
    /^README\.md$/,
    /^LICENSE$/,
    /^(CHANGELOG|CONTRIBUTING|SECURITY|THIRD-PARTY-NOTICES)\.md$/,
    /^tests\/consumers\/fixtures\/runners\/[\w/.-]+\.js$/,
    /^bin\/(tabacus|preload)\.js$/,
    /^docs\/[a-z-]+\.(md|png|svg|json|jsonl)$/,
    /^docs\/decisions\/(README|\d{4}-[a-z-]+)\.md$/,
    /^dist\/(web|node)\/(counters|storage|locks|leader|lease|queue|limits|catalogue|threads|lab|emulator|attach|store)\.wasm$/,
    /^dist\/(web|node)\/(tabacus|tabacus-threads|tabacus-worker|tabacus-lab|tabacus-emulator|tabacus-polyfill|tabacus-service-worker|tabacus-compat-[a-z-]+)\.js(\.map)?$/,
    /^dist\/(web|node)\/(locks|queue|limits|catalogue|threads-program|threads-segments|threads-serve|threads-tab-locks)\.js(\.map)?$/,
    /^dist\/(web|node)\/threads-worker\.js$/,
    /^dist\/debug\/(counters|storage|locks|leader|lease|queue|limits|catalogue)\.wasm$/,
    /^dist\/types\/[\w./-]+\.d\.ts$/,
];

/** How TypeScript's users look packages up: as Node does, or as bundlers do. */
const RESOLUTIONS = ['nodenext', 'bundler'];

/** The present compiler, and the oldest that the declarations are for. */
const COMPILERS = {
    TypeScript: join(repository, 'node_modules/typescript/bin/tsc'),
    'TypeScript 5.2': join(repository, 'node_modules/typescript-5.2/node_modules/typescript/bin/tsc'),
};

/** Documents lead to these in a clone: they are no part of the package. */
const IN_A_CLONE = /^demo\//;

describe('The installed package', () => {
    /** @type {import('./package.js').Installed} */
    let installed;
    before(async () => {
        installed = await install();
        for (const part of ['node', 'types', 'server-types']) {
            await cp(join(fixtures, part), join(installed.folder, part), { recursive: true });
        }
        const examples = await writeExamples(installed.root, join(installed.folder, 'types/pages'));
        assert.ok(examples > 20, `${examples} examples`);
    });
    after(() => installed?.remove());

    it('is what users need, and nothing else', () => {
        const others = installed.files.filter((file) => !PUBLISHED.some((one) => one.test(file)));
        assert.deepEqual(others, []);
    });

    it('has every file that it exports', async () => {
        const { exports } = JSON.parse(await readFile(join(installed.root, 'package.json'), 'utf8'));
        const paths = Object.values(exports).flatMap((target) =>
            typeof target === 'string' ? [target] : Object.values(target),
        );
        const has = (/** @type {string} */ path) => {
            const [before = '', after = before] = path.replace('./', '').split('*');
            return installed.files.some((file) => file.startsWith(before) && file.endsWith(after));
        };
        const missing = paths.filter((path) => !has(path));
        assert.deepEqual(missing, []);
    });

    it('depends on nothing', async () => {
        const tree = JSON.parse(await readFile(join(installed.folder, 'package-lock.json'), 'utf8'));
        assert.deepEqual(Object.keys(tree.packages), ['', 'node_modules/tabacus']);
    });

    it('counts in Node, with threads, touching no global and keeping no process alive', async () => {
        const app = join(installed.folder, 'node/app.mjs');
        const { stdout, stderr } = await run(process.execPath, [app], { timeout: 60_000 });
        assert.deepEqual(JSON.parse(stdout), {
            untouched: true,
            visits: 1000,
            orders: 3,
            clicks: 3000,
            oneErrorClass: true,
            wasm: ['counters', 'threads', 'locks', 'catalogue', 'attach'].map(
                (name) => `dist/node/${name}.wasm`,
            ),
        });
        assert.equal(stderr, '');
    });

    it('has a command that proves, breaks and refuses', async () => {
        const command = join(installed.folder, 'node_modules/.bin/tabacus');
        const { stdout } = await run(command, ['explore', 'transactional', '--adds', '1']);
        assert.match(stdout, /^proved: every schedule/);
        const broken = await run(command, ['explore', 'naive', '--model', 'cached']).catch((error) => error);
        assert.equal(broken.code, 1);
        assert.match(broken.stdout, /^broken tabacus-1-/);
        for (const args of [
            ['explore', 'naive', '--tab', '2'],
            ['preload', 'lock'],
        ]) {
            const refused = await run(command, args).catch((error) => error);
            assert.equal(refused.code, 2);
        }
    });

    it('costs nothing where it is imported and not used', async () => {
        const { outputFiles } = await build({
            stdin: {
                contents: "import { open } from 'tabacus'; import 'tabacus/threads';",
                resolveDir: installed.folder,
            },
            bundle: true,
            write: false,
            format: 'esm',
            platform: 'browser',
            logLevel: 'silent',
        });
        assert.equal(
            outputFiles
                .map(({ text }) => text)
                .join('')
                .replace(/\/\/.*/g, '')
                .trim(),
            '',
        );
    });

    it('has every file that its documents lead to', async () => {
        const packed = new Set(installed.files);
        const folders = new Set(installed.files.map((file) => dirname(file)));
        for (const page of installed.files.filter((file) =>
            /^(README|docs\/.*)\.md$|^README\.md$/.test(file),
        )) {
            const text = await readFile(join(installed.root, page), 'utf8');
            for (const [, link = ''] of text.matchAll(/\]\((?!\w+:)([^)#\s]+)(?:#[^)]*)?\)/g)) {
                const path = normalize(join(dirname(page), link)).replace(/\/$/, '');
                const there = packed.has(path) || folders.has(path) || IN_A_CLONE.test(path);
                assert.ok(there, `${page} leads to ${path}, which is not in the package`);
            }
        }
    });

    it('is what publint and Are the types wrong? approve of', async () => {
        const { messages } = await publint({ pkgDir: installed.root, strict: true });
        assert.deepEqual(messages, []);
        const { exports } = JSON.parse(await readFile(join(installed.root, 'package.json'), 'utf8'));
        const wasm = Object.keys(exports).filter((path) => path.endsWith('.wasm'));
        const command = join(repository, 'node_modules/.bin/attw');
        const without = ['--exclude-entrypoints', ...wasm.map((path) => path.slice(2))];
        await run(command, [installed.tarball, '--profile', 'esm-only', '--quiet', ...without]);
    });

    for (const [compiler, tsc] of Object.entries(COMPILERS)) {
        /** @param {string[]} args */
        const compile = async (...args) => {
            const options = { cwd: installed.folder };
            const compiled = await run(process.execPath, [tsc, ...args], options).catch((error) => error);
            assert.equal(compiled.stdout, '');
        };
        for (const resolution of compiler === 'TypeScript' ? RESOLUTIONS : ['nodenext']) {
            it(`is well typed for strict ${compiler}, and so are its pages’ examples (${resolution})`, () => {
                const module = resolution === 'bundler' ? 'esnext' : 'nodenext';
                return compile('--project', 'types', '--module', module, '--moduleResolution', resolution);
            });
        }
        it(`is well typed for ${compiler} without the DOM library`, () =>
            compile('--project', 'server-types'));
    }
});
