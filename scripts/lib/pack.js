/** dist/: the cores with their glue made small, and the public modules bundled, once a platform. */

import {
    copyFileSync,
    existsSync,
    mkdirSync,
    readFileSync,
    readdirSync,
    rmSync,
    writeFileSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { checkAttach } from './attach-check.js';
import { generateBridge } from './bridge-generator.js';
import { Failure } from './failure.js';
import { generateGuarantees } from './guarantees.js';
import { withLock } from './lock.js';
import { nodeModules } from './node-modules.js';
import { buildFolder, distFolder, repository } from './paths.js';
import { step } from './progress.js';
import { markThreadWorker } from './threads-glue.js';

/** @typedef {'web' | 'node'} Platform */

/** @type {Platform[]} */
const PLATFORMS = ['web', 'node'];

/**
 * What the glue asks about where it runs, as it is on each platform. With that written in, terser drops what is
 * for the other: webpack, esbuild and Vite refuse a file that would import Node's modules only in Node.
 * @type {Record<Platform, Record<string, boolean>>}
 */
const FACTS = {
    web: { ENVIRONMENT_IS_NODE: false, isNode: false },
    node: {
        ENVIRONMENT_IS_NODE: true,
        isNode: true,
        ENVIRONMENT_IS_WEB: false,
        ENVIRONMENT_IS_WORKER: false,
    },
};

/** The modules by the builds that they come from. */
const CORES = {
    threads: 'wasm-threads',
    single: 'wasm-single',
    coordination: 'wasm-single',
    lab: 'wasm-single',
    emulator: 'wasm-single',
};

/** Modules for a memory that another one's program runs in. */
const FREESTANDING = ['attach', 'store'];

/** Public modules by the names that package.json exports them under. */
const FACADES = {
    tabacus: 'index',
    'tabacus-threads': 'threads',
    'tabacus-worker': 'worker',
    'tabacus-lab': 'lab',
    'tabacus-service-worker': 'service-worker',
    'tabacus-emulator': 'emulator',
    'tabacus-polyfill': 'polyfill',
    'tabacus-compat-browser-tabs-lock': 'compat/browser-tabs-lock',
    'tabacus-compat-leadership': 'compat/leadership',
    'tabacus-compat-locks': 'compat/locks',
};

/** Packs the cores that are built, and the public modules. */
export async function pack() {
    await nodeModules();
    generateBridge();
    await withLock(join(buildFolder, 'dist.lock'), async () => {
        await generateGuarantees();
        for (const platform of PLATFORMS) {
            mkdirSync(join(distFolder, platform), { recursive: true });
            for (const [core, preset] of Object.entries(CORES)) await packCore(platform, core, preset);
            for (const name of FREESTANDING) packFreestanding(platform, name);
            await packFacades(platform);
        }
    });
}

/**
 * @param {Platform} platform
 * @param {string} core
 * @param {string} preset
 */
async function packCore(platform, core, preset) {
    const from = join(buildFolder, preset, core);
    const to = join(distFolder, platform, core);
    if (!existsSync(`${from}.js`)) return;
    await step(`pack ${platform}/${core}`, async () => {
        const glue = await minified(forOne(readFileSync(`${from}.js`, 'utf8'), platform));
        writeFileSync(`${to}.js`, core === 'threads' && platform === 'web' ? markThreadWorker(glue) : glue);
        copyFileSync(`${from}.wasm`, `${to}.wasm`);
    });
}

/**
 * The glue where it is known on which platform it runs.
 * @param {string} glue
 * @param {Platform} platform
 */
export function forOne(glue, platform) {
    let known = glue;
    for (const [name, is] of Object.entries(FACTS[platform])) {
        known = known.replace(new RegExp(`\\bvar ${name}=[^;]*;`), `var ${name}=${is};`);
        const asked = new RegExp(`\\b${name}\\b`).test(glue);
        if (asked && !known.includes(`var ${name}=${is};`))
            throw new Failure(`Emscripten's glue does not say ${name} as it did`);
    }
    return known;
}

/**
 * Emscripten's glue gets a quarter to a third smaller, what esbuild has minified a fortieth. Property
 * names stay: wasm imports go by them.
 * @param {string} source
 */
async function minified(source) {
    const { minify } = await import('terser');
    const { code } = await minify(source, {
        module: true,
        ecma: 2020,
        mangle: true,
        compress: { passes: 2 },
    });
    if (!code) throw new Failure('terser made nothing of a module');
    return code;
}

/**
 * @param {Platform} platform
 * @param {string} name
 */
function packFreestanding(platform, name) {
    const from = join(buildFolder, `wasm-threads/${name}.wasm`);
    if (!existsSync(from)) return;
    checkAttach(from);
    copyFileSync(from, join(distFolder, platform, `${name}.wasm`));
}

/** @param {Platform} platform */
async function packFacades(platform) {
    const entries = Object.entries(FACADES)
        .map(([out, name]) => ({ out, in: join(repository, 'js', `${name}.js`) }))
        .filter((entry) => existsSync(entry.in));
    const outdir = join(distFolder, platform);
    if (entries.length > 0) await step(`pack ${platform} modules`, () => bundle(platform, entries, outdir));
}

/**
 * What two public modules share becomes a chunk: an error class must be one class.
 * @param {Platform} platform
 * @param {{ in: string, out: string }[]} entries
 * @param {string} outdir
 */
async function bundle(platform, entries, outdir) {
    const esbuild = await import('esbuild');
    for (const old of stale(outdir)) rmSync(join(outdir, old));
    const { outputFiles } = await esbuild.build({
        write: false,
        entryPoints: entries.map((entry) => ({ in: entry.in, out: entry.out })),
        outdir,
        bundle: true,
        splitting: true,
        chunkNames: 'chunk-[hash]',
        format: 'esm',
        minify: true,
        target: 'es2022',
        platform: platform === 'node' ? 'node' : 'neutral',
        // An optional peer of the emulator's.
        external: ['fake-indexeddb'],
        logLevel: 'warning',
        plugins: [glue, forPlatform(platform)],
    });
    for (const { path, text } of outputFiles) writeFileSync(path, await minified(text));
}

/** @param {string} folder */
const stale = (folder) =>
    existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith('chunk-')) : [];

/**
 * `import('./single.js')` stays as it is written: the glue is a file of its own beside the bundle,
 * so that a page loads the one core that it uses.
 * @type {import('esbuild').Plugin}
 */
const glue = {
    name: 'glue',
    setup({ onResolve }) {
        onResolve({ filter: /^\.\/(threads|single|coordination|lab|emulator)\.js$/ }, ({ importer, path }) =>
            /^(load\.(web|node)|service-worker)\.js$/.test(basename(importer))
                ? { path, external: true }
                : undefined,
        );
    },
};

/**
 * A module of the name x.web.js has a sibling x.node.js for Node.
 * @param {Platform} platform
 * @returns {import('esbuild').Plugin}
 */
const forPlatform = (platform) => ({
    name: 'platform',
    setup({ onResolve }) {
        if (platform === 'web') return;
        onResolve({ filter: /\.web\.js$/ }, ({ path, resolveDir }) => ({
            path: join(resolveDir, path.replace(/\.web\.js$/, '.node.js')),
        }));
    },
});
