/** What is published, and what Node, TypeScript and a tree-shaker make of it. */

import assert from 'node:assert/strict';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';

import { build } from 'esbuild';

import { fixtures, install, repository, run } from './package.js';
import { writeExamples } from './pages.js';

/** Everything that may be in the tarball. */
const PUBLISHED = [
    /^package\.json$/,
    /^README\.md$/,
    /^LICENSE$/,
    /^bin\/(tabacus|preload)\.js$/,
    /^docs\/[a-z-]+\.(md|png|svg|json|jsonl)$/,
    /^docs\/decisions\/(README|\d{4}-[a-z-]+)\.md$/,
    /^dist\/(web|node)\/(counters|locks|leader|lease|queue|limits|catalogue|threads|lab|emulator|attach|store)\.wasm$/,
    /^dist\/(web|node)\/(tabacus|tabacus-threads|tabacus-worker|tabacus-lab|tabacus-emulator|tabacus-polyfill|tabacus-service-worker|tabacus-compat-[a-z-]+)\.js(\.map)?$/,
    /^dist\/(web|node)\/(locks|queue|limits|catalogue|threads-segments|threads-serve|threads-tab-locks)\.js(\.map)?$/,
    /^dist\/(web|node)\/threads-worker\.js$/,
    /^dist\/debug\/(counters|locks|leader|lease|queue|limits|catalogue)\.wasm$/,
    /^dist\/types\/[\w./-]+\.d\.ts$/,
];

/** How TypeScript's users look packages up: as Node does, or as bundlers do. */
const RESOLUTIONS = ['nodenext', 'bundler'];

describe('The installed package', () => {
    /** @type {import('./package.js').Installed} */
    let installed;
    before(async () => {
        installed = await install();
        for (const part of ['node', 'types']) {
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

    for (const resolution of RESOLUTIONS) {
        it(`is well typed for strict TypeScript, and so are its pages’ examples (${resolution})`, async () => {
            const tsc = join(repository, 'node_modules/.bin/tsc');
            const module = resolution === 'bundler' ? 'esnext' : 'nodenext';
            const args = ['--project', 'types', '--module', module, '--moduleResolution', resolution];
            const compiled = await run(tsc, args, { cwd: installed.folder }).catch((error) => error);
            assert.equal(compiled.stdout, '');
        });
    }
});
