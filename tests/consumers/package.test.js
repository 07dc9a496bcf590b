/** The published files, in Node, in TypeScript and in a tree-shaker. */

import assert from 'node:assert/strict';
import { cp, readFile } from 'node:fs/promises';
import { dirname, join, normalize } from 'node:path';
import { after, before, describe, it } from 'node:test';

import { build } from 'esbuild';
import { publint } from 'publint';

import { fixtures, install, repository, run } from './package.js';
import { writeExamples } from './pages.js';

/** Patterns of all files that may be in the tarball. */
const PUBLISHED = [
    /^package\.json$/,
    /^README\.md$/,
    /^LICENSE$/,
    /^(CHANGELOG|CONTRIBUTING|SECURITY|THIRD-PARTY-NOTICES)\.md$/,
    /^tests\/consumers\/fixtures\/runners\/[\w/.-]+\.js$/,
    /^bin\/(tabacus|preload|arguments|report-files|scenario|strategy)\.js$/,
    /^docs\/[a-z-]+\.(md|png|svg|json|jsonl)$/,
    /^docs\/decisions\/(README|\d{4}-[a-z-]+)\.md$/,
    /^dist\/(web|node)\/(counters|gather|storage|transfer|locks|leader|lease|queue|limits|catalogue|threads|lab|emulator|attach|store)\.wasm$/,
    /^dist\/(web|node)\/(tabacus|tabacus-threads|tabacus-worker|tabacus-lab|tabacus-emulator|tabacus-polyfill|tabacus-service-worker|tabacus-compat-[a-z-]+)\.js(\.map)?$/,
    /^dist\/(web|node)\/(locks|queue|limits|transfer|catalogue|threads-program|threads-segments|threads-serve|threads-tab-locks)\.js(\.map)?$/,
    /^dist\/(web|node)\/emulator-(runs|worker)\.js(\.map)?$/,
    /^dist\/(web|node)\/threads-worker\.js$/,
    /^dist\/debug\/(counters|gather|storage|transfer|locks|leader|lease|queue|limits|catalogue)\.wasm$/,
    /^dist\/types\/[\w./-]+\.d\.ts$/,
];

/** The two ways in which TypeScript resolves packages: as Node does, and as bundlers do. */
const RESOLUTIONS = ['nodenext', 'bundler'];

/** The present compiler, and the oldest one that the declarations support. */
const COMPILERS = {
    TypeScript: join(repository, 'node_modules/typescript/bin/tsc'),
    'TypeScript 5.2': join(repository, 'node_modules/typescript-5.2/node_modules/typescript/bin/tsc'),
};

/** Links of documents to these files work only in a clone, since the package does not contain them. */
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

    it('the package contains the files that users need, and no others', () => {
        const others = installed.files.filter((file) => !PUBLISHED.some((one) => one.test(file)));
        assert.deepEqual(others, []);
    });

    it('the package contains every file that it exports', async () => {
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

    it('the package has no dependencies', async () => {
        const tree = JSON.parse(await readFile(join(installed.folder, 'package-lock.json'), 'utf8'));
        assert.deepEqual(Object.keys(tree.packages), ['', 'node_modules/tabacus']);
    });

    it('a program in Node counts, also with threads, changes no global and ends by itself', async () => {
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

    it('the command tabacus proves a strategy, breaks another, and refuses wrong arguments', async () => {
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

    it('an import that is not used is removed by a tree-shaker', async () => {
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

    it('the package contains every file that its documents link to', async () => {
        const packed = new Set(installed.files);
        const folders = new Set(installed.files.map((file) => dirname(file)));
        for (const page of installed.files.filter((file) =>
            /^(README|docs\/.*)\.md$|^README\.md$/.test(file),
        )) {
            const text = await readFile(join(installed.root, page), 'utf8');
            for (const [, link = ''] of text.matchAll(/\]\((?!\w+:)([^)#\s]+)(?:#[^)]*)?\)/g)) {
                const path = normalize(join(dirname(page), link)).replace(/\/$/, '');
                const there = packed.has(path) || folders.has(path) || IN_A_CLONE.test(path);
                assert.ok(there, `${page} links to ${path}, which is not in the package`);
            }
        }
    });

    it('package.json has the addresses of the project', async () => {
        const manifest = JSON.parse(await readFile(join(installed.root, 'package.json'), 'utf8'));
        for (const address of [manifest.homepage, manifest.bugs.url, manifest.repository.url]) {
            assert.ok(URL.canParse(address), address);
        }
    });

    it('publint and Are the types wrong? find no fault in the package', async () => {
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
            it(`strict ${compiler} accepts the package and the examples of its pages (${resolution})`, () => {
                const module = resolution === 'bundler' ? 'esnext' : 'nodenext';
                return compile('--project', 'types', '--module', module, '--moduleResolution', resolution);
            });
        }
        it(`${compiler} accepts the package without the DOM library`, () =>
            compile('--project', 'server-types'));
    }
});
