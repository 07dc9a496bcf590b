/**
 * Builds the consumer's page by each bundler, with as little configuration as it allows. Each function resolves with
 * the folder to serve and the warnings of the bundler.
 */

import { copyFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, dirname, join } from 'node:path';

import { fixtures } from './package.js';

/** @typedef {import('./package.js').Installed} Installed */
/** @typedef {{ folder: string, warnings: string[] }} Built */

const SOURCES = ['app.js', 'worker.js'];

/**
 * The files that the caller must copy for esbuild and Rollup. They keep `new URL('./x', import.meta.url)` as it is, and
 * copy nothing.
 */
const ASSETS = [
    ...[
        'counters',
        'gather',
        'storage',
        'transfer',
        'locks',
        'leader',
        'lease',
        'queue',
        'limits',
        'catalogue',
    ].map((piece) => `${piece}.wasm`),
    ...['attach.wasm', 'threads-worker.js', 'threads.wasm'],
];

/** @param {string} script  the element that loads the page's script */
const html = (script) => `<!doctype html>
<html lang="en">
    <head>
        <meta charset="utf-8" />
        <title>A consumer of tabacus</title>
        <link rel="icon" href="data:," />
        ${script}
    </head>
    <body></body>
</html>
`;

const MODULE = '<script type="module" src="./app.js"></script>';

/**
 * Writes the sources of the consumer's project beside its node_modules.
 *
 * @param {Installed} installed
 */
export async function writeApp({ folder }) {
    for (const file of SOURCES) {
        await copyFile(join(fixtures, 'app', file), join(folder, 'src', file));
    }
    await writeFile(join(folder, 'src/index.html'), html(MODULE));
}

/** @param {Installed} installed @param {string} out */
async function copyAssets({ root }, out) {
    await mkdir(out, { recursive: true });
    for (const file of ASSETS) await copyFile(join(root, 'dist/web', file), join(out, file));
    await writeFile(join(out, 'index.html'), html(MODULE));
}

/** @param {Installed} installed @returns {Promise<Built>} */
async function vite({ folder }) {
    const { build, createLogger } = await import('vite');
    const warnings = /** @type {string[]} */ ([]);
    const warn = (/** @type {string} */ message) => void warnings.push(message);
    const out = join(folder, 'out/vite');
    await build({
        configFile: false,
        root: join(folder, 'src'),
        logLevel: 'silent',
        customLogger: { ...createLogger('silent'), warn, warnOnce: warn, error: warn },
        build: { outDir: out, emptyOutDir: true },
    });
    return { folder: out, warnings };
}

/** @param {Installed} installed @returns {Promise<Built>} */
async function webpack({ folder }) {
    const { default: bundle } = await import('webpack');
    const out = join(folder, 'out/webpack');
    const compiler = bundle({
        mode: 'production',
        context: folder,
        entry: { app: './src/app.js' },
        output: { path: out },
        // The limit of 244 KiB is for the files that a page begins with, but each wasm is loaded by its first use.
        performance: { assetFilter: (/** @type {string} */ file) => !file.endsWith('.wasm') },
    });
    const stats = await new Promise((resolve, reject) =>
        compiler.run((error, result) => (error ? reject(error) : resolve(result))),
    );
    await new Promise((resolve) => compiler.close(resolve));
    await writeFile(join(out, 'index.html'), html('<script defer src="./app.js"></script>'));
    const { errors, warnings } = stats.toJson({ all: false, errors: true, warnings: true });
    const messages = [...errors, ...warnings].map(({ message }) => message);
    return { folder: out, warnings: messages };
}

/** @param {Installed} installed @returns {Promise<Built>} */
async function rollup(installed) {
    const { rollup: bundle } = await import('rollup');
    const { nodeResolve } = await import('@rollup/plugin-node-resolve');
    const warnings = /** @type {string[]} */ ([]);
    const out = join(installed.folder, 'out/rollup');
    const made = await bundle({
        input: SOURCES.map((file) => join(installed.folder, 'src', file)),
        plugins: [nodeResolve({ browser: true })],
        onwarn: ({ message }) => void warnings.push(message),
    });
    await made.write({ dir: out, format: 'es', entryFileNames: '[name].js' });
    await made.close();
    await copyAssets(installed, out);
    return { folder: out, warnings };
}

/** @param {Installed} installed @returns {Promise<Built>} */
async function esbuild(installed) {
    const { build } = await import('esbuild');
    const out = join(installed.folder, 'out/esbuild');
    const { warnings } = await build({
        entryPoints: SOURCES.map((file) => join(installed.folder, 'src', file)),
        outdir: out,
        bundle: true,
        splitting: true,
        format: 'esm',
        minify: true,
        logLevel: 'silent',
    });
    await copyAssets(installed, out);
    return { folder: out, warnings: warnings.map(({ text }) => text) };
}

/**
 * Makes the page without a bundler. A browser resolves no bare names, so the page names the files.
 *
 * @param {Installed} installed
 * @returns {Promise<Built>}
 */
async function none({ folder, root }) {
    const { resolve } = createRequire(join(root, 'package.json'));
    const { exports } = JSON.parse(await readFile(resolve('./package.json'), 'utf8'));
    const out = join(folder, 'src-plain');
    await mkdir(out);
    for (const file of SOURCES) {
        const source = await readFile(join(folder, 'src', file), 'utf8');
        const plain = source.replace(
            /'tabacus(\/\w+)?'/g,
            (_, path = '') => `'/node_modules/tabacus/${exports[`.${path}`].default.replace('./', '')}'`,
        );
        await writeFile(join(out, file), plain);
    }
    await writeFile(join(out, 'index.html'), html(MODULE));
    return { folder: out, warnings: [] };
}

/** @type {Record<string, (installed: Installed) => Promise<Built>>} */
export const BUNDLERS = { Vite: vite, webpack, Rollup: rollup, esbuild, 'no bundler': none };

/**
 * Bundles, by each bundler, a module that imports a part of the package for its side effects and uses none of its
 * exports.
 *
 * @type {Record<string, (entry: string, file: string) => Promise<unknown>>}
 */
export const BARE_IMPORTS = {
    async esbuild(entry, file) {
        const { build } = await import('esbuild');
        await build({ entryPoints: [entry], outfile: file, bundle: true, format: 'esm', logLevel: 'silent' });
    },
    async Rollup(entry, file) {
        const { rollup: bundle } = await import('rollup');
        const { nodeResolve } = await import('@rollup/plugin-node-resolve');
        const made = await bundle({ input: entry, plugins: [nodeResolve({ browser: true })], onwarn() {} });
        await made.write({ file, format: 'es', inlineDynamicImports: true });
        await made.close();
    },
    async Vite(entry, file) {
        const { build } = await import('vite');
        await build({
            configFile: false,
            root: dirname(entry),
            logLevel: 'silent',
            build: {
                outDir: dirname(file),
                emptyOutDir: true,
                lib: { entry, formats: ['es'], fileName: () => basename(file) },
                rolldownOptions: { output: { codeSplitting: false } },
            },
        });
    },
    async webpack(entry, file) {
        const { default: bundle } = await import('webpack');
        const compiler = bundle({
            mode: 'production',
            context: dirname(entry),
            entry,
            output: { path: dirname(file), filename: basename(file) },
            performance: false,
        });
        await new Promise((resolve, reject) =>
            compiler.run((error, result) => (error ? reject(error) : resolve(result))),
        );
        await new Promise((resolve) => compiler.close(resolve));
    },
};
