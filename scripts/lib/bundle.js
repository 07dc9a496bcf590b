/** The public modules of a platform as few files, by Rollup; each is made small by terser, with its source map. */

import { existsSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Failure } from './failure.js';
import { CORES, gluePath, glueOf, threadsWorker } from './glue.js';
import { repository } from './paths.js';

/** @typedef {import('./glue.js').Platform} Platform */
/** @typedef {import('./glue.js').Core} Core */

/**
 * Files that are bundled together, and share what they have in common.
 *
 * @typedef {object} Family
 * @property {Record<string, string>} entries public modules, by the names that package.json exports them under
 * @property {[chunk: string, modules: string[]][]} chunks what a chunk holds: the modules, and what they import and no
 *   chunk before it holds
 */

/** @param {string} entry @param {string} module @returns {Family} */
const alone = (entry, module) => ({ entries: { [entry]: module }, chunks: [[entry, [module]]] });

/**
 * A page that counts loads one file; whatever else is used first costs one more. What a Worker loads leads nowhere
 * back to the page's modules, so the threads are a family of their own, of which `tabacus-worker` is the part that
 * the others may import. An error is recognised by its brand in every family (js/common/errors.js).
 *
 * @type {Family[]}
 */
const FAMILIES = [
    {
        entries: {
            tabacus: 'index',
            'tabacus-service-worker': 'service-worker',
            'tabacus-polyfill': 'polyfill',
            'tabacus-compat-browser-tabs-lock': 'compat/browser-tabs-lock',
            'tabacus-compat-leadership': 'compat/leadership',
            'tabacus-compat-locks': 'compat/locks',
        },
        chunks: [
            ['tabacus', ['index']],
            ['locks', ['lock/tab-locks', 'lock/leader-calls', 'core/load-coordination']],
            ['queue', ['queue/queues']],
            ['limits', ['limits/limits']],
            ['catalogue', ['tab/catalogue']],
            ['tabacus-compat-locks', ['compat/locks']],
        ],
    },
    {
        entries: { 'tabacus-worker': 'worker', 'tabacus-threads': 'threads' },
        chunks: [
            ['tabacus-worker', ['worker']],
            ['tabacus-threads', ['threads']],
            ['threads-tab-locks', ['threads/tab-lock/join-tab-locks', 'threads/tab-lock/broker']],
            ['threads-segments', ['threads/segment/thread-segments']],
            ['threads-serve', ['threads/segment/serve-segments']],
        ],
    },
    alone('tabacus-lab', 'lab'),
    alone('tabacus-emulator', 'emulator'),
];

/** Modules of one family that another one loads when they are called, by their names there. */
const OTHERS = new Map(
    [
        ['threads', './tabacus-threads.js'],
        ['worker', './tabacus-worker.js'],
    ].map(([module = '', file = '']) => [pathOf(module), file]),
);

/** @param {string} module */
function pathOf(module) {
    return join(repository, 'js', `${module}.js`);
}

/**
 * @param {Platform} platform
 * @returns {Promise<Map<string, string>>} the text of each file by its name
 */
export async function bundled(platform) {
    /** @type {Map<string, string>} */
    const files = new Map();
    for (const family of FAMILIES) {
        for (const { fileName, code, map } of await chunksOf(family, platform)) {
            if (files.has(fileName)) throw new Failure(`two families have a file ${fileName}`);
            await addMinified(files, fileName, code, String(map));
        }
    }
    await addMinified(files, 'threads-worker.js', threadsWorker(platform));
    return files;
}

/** @param {Family} family @param {Platform} platform */
async function chunksOf(family, platform) {
    const { rollup } = await import('rollup');
    const made = await rollup({
        input: Object.fromEntries(
            Object.entries(family.entries).map(([name, module]) => [name, pathOf(module)]),
        ),
        // The lazy parts import what they share from the entry's file, so that it is one.
        preserveEntrySignatures: 'allow-extension',
        // An optional peer of the emulator's, and Node's own.
        external: (id) => id === 'fake-indexeddb' || id.startsWith('node:'),
        plugins: [glue(platform), forPlatform(platform), otherFamilies(new Set(Object.values(family.entries)))],
        onwarn: ({ message }) => {
            throw new Failure(`Rollup: ${message}`);
        },
    });
    const { output } = await made.generate({
        dir: join(repository, 'dist', platform),
        format: 'es',
        sourcemap: true,
        entryFileNames: '[name].js',
        chunkFileNames: '[name].js',
        manualChunks: chunkNames(family),
        onlyExplicitManualChunks: true,
        hoistTransitiveImports: false,
    });
    await made.close();
    return output.filter((file) => file.type === 'chunk');
}

/**
 * @param {Family} family
 * @returns {import('rollup').GetManualChunk}
 */
function chunkNames({ chunks }) {
    /** @type {Map<string, string> | undefined} */
    let names;
    return (id, { getModuleInfo }) => {
        if (!names) {
            names = new Map();
            for (const [chunk, modules] of chunks) {
                for (const module of modules) addClosure(names, chunk, pathOf(module), getModuleInfo);
            }
        }
        return names.get(id);
    };
}

/**
 * @param {Map<string, string>} names
 * @param {string} chunk
 * @param {string} id
 * @param {import('rollup').GetModuleInfo} getModuleInfo
 */
function addClosure(names, chunk, id, getModuleInfo) {
    const info = getModuleInfo(id);
    if (!info || info.isExternal || names.has(id)) return;
    names.set(id, chunk);
    for (const imported of info.importedIds) addClosure(names, chunk, imported, getModuleInfo);
}

/**
 * The glue of a module is imported as if it were a file beside who imports it.
 * @param {Platform} platform
 * @returns {import('rollup').Plugin}
 */
function glue(platform) {
    const cores = /** @type {Map<string, Core>} */ (
        new Map(Object.keys(CORES).map((core) => [gluePath(/** @type {Core} */ (core)), core]))
    );
    return {
        name: 'glue',
        resolveId(source, importer) {
            const core = /** @type {Core} */ (basename(source, '.js'));
            if (!importer || source !== `./${core}.js` || !(core in CORES)) return null;
            return existsSync(join(dirname(importer), source)) ? null : gluePath(core);
        },
        load(id) {
            const core = cores.get(id);
            if (core === undefined) return null;
            if (!existsSync(id)) throw new Failure(`${id} is missing: run node scripts/build.js wasm`);
            return { code: glueOf(core, platform), moduleSideEffects: false };
        },
    };
}

/**
 * A module of the name x.web.js has a sibling x.node.js for Node.
 * @param {Platform} platform
 * @returns {import('rollup').Plugin}
 */
const forPlatform = (platform) => ({
    name: 'platform',
    resolveId(source, importer) {
        if (platform === 'web' || !importer || !source.endsWith('.web.js')) return null;
        return join(dirname(importer), source.replace(/\.web\.js$/, '.node.js'));
    },
});

/**
 * @param {Set<string>} own the modules that this family begins with
 * @returns {import('rollup').Plugin}
 */
const otherFamilies = (own) => ({
    name: 'other families',
    resolveId(source, importer) {
        if (!importer || !source.startsWith('.')) return null;
        const path = join(dirname(importer), source);
        const file = OTHERS.get(path);
        if (file === undefined || [...own].some((module) => pathOf(module) === path)) return null;
        return { id: file, external: true };
    },
});

/**
 * Property names stay: wasm imports go by them.
 *
 * @param {Map<string, string>} files
 * @param {string} name
 * @param {string} source
 * @param {string} [map]
 */
async function addMinified(files, name, source, map) {
    const { minify } = await import('terser');
    const result = await minify(source, {
        module: true,
        ecma: 2020,
        mangle: true,
        compress: { passes: 2 },
        ...(map && { sourceMap: { content: map, includeSources: true, url: `${name}.map` } }),
    });
    if (!result.code) throw new Failure(`terser made nothing of ${name}`);
    files.set(name, result.code);
    if (typeof result.map === 'string') files.set(`${name}.map`, result.map);
}
