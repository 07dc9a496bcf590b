/**
 * Bundles the public modules of a platform into few files by Rollup. terser minifies each and writes its source map.
 */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { hostEvents } from '../../bridge/host.js';
import { camel } from './bridge-types.js';
import { Failure } from './failure.js';
import { CORES, gluePath, glueOf, threadsWorker } from './glue.js';
import { repository } from './paths.js';

/** @typedef {import('./glue.js').Platform} Platform */
/** @typedef {import('./glue.js').Core} Core */

/**
 * Files that are bundled together and share their common code.
 *
 * @typedef {object} Family
 * @property {Record<string, string>} entries public modules, by the names that package.json exports them under
 * @property {[chunk: string, modules: string[]][]} chunks each contains the named modules and what they import,
 *   without what a chunk before it contains
 */

/** @param {string} entry @param {string} module @returns {Family} */
const alone = (entry, module) => ({ entries: { [entry]: module }, chunks: [[entry, [module]]] });

/**
 * A page that counts loads one file; each further part that it uses costs one more. The threads are a family of their
 * own, since a file that a Worker loads must not import the page's modules. Other families may import only
 * `tabacus-worker` of it. An error is recognised by its brand in every family (js/common/errors.js).
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
            ['locks', ['lock/tab-locks', 'core/load-coordination']],
            ['queue', ['queue/queues']],
            ['limits', ['limits/limits']],
            ['transfer', ['limits/transfer']],
            ['catalogue', ['tab/catalogue']],
            ['tabacus-compat-locks', ['compat/locks']],
        ],
    },
    {
        entries: { 'tabacus-worker': 'worker', 'tabacus-threads': 'threads' },
        chunks: [
            [
                'tabacus-worker',
                ['worker', 'core/compile-wasm', 'common/lazy', 'threads/exit/watch-workers.web'],
            ],
            ['threads-segments', ['threads/segment/thread-segments']],
            ['tabacus-threads', ['threads']],
            ['threads-serve', ['threads/segment/serve-segments']],
            ['threads-program', ['threads/cpp-program']],
        ],
    },
    alone('threads-tab-locks', 'threads/tab-lock/tab-locks'),
    alone('tabacus-lab', 'lab'),
    {
        entries: { 'tabacus-emulator': 'emulator', 'emulator-worker': 'emulator/seeds/seed-worker' },
        chunks: [
            [
                'emulator-runs',
                ['emulator/host/warm-up', 'emulator/scenario-module', 'emulator/seeds/thread-errors'],
            ],
            ['emulator-worker', ['emulator/seeds/seed-worker']],
            ['tabacus-emulator', ['emulator']],
        ],
    },
];

/** The modules that another family loads when it first calls them, with the file that contains each. */
const OTHERS = new Map([
    ['threads', './tabacus-threads.js'],
    ['worker', './tabacus-worker.js'],
    ['threads/tab-lock/tab-locks', './threads-tab-locks.js'],
]);

/**
 * @typedef {object} BundleOptions
 * @property {string} [root] the folder with js/, if not this repository
 * @property {boolean} [small] whether the code is minified and has source maps, the default
 * @property {Map<string, string>} [glue] the text of the glue of a module, if not that of the build
 */

/**
 * @param {Platform} platform
 * @param {BundleOptions} [options]
 * @returns {Promise<Map<string, string>>} the text of each file by its name
 */
export async function bundled(platform, { root = repository, small = true, glue = new Map() } = {}) {
    /** @type {Map<string, string>} */
    const files = new Map();
    for (const family of FAMILIES) {
        for (const [name, text] of await filesOf(family, { platform, root, small, glue })) {
            if (files.has(name)) throw new Failure(`two families have a file ${name}`);
            files.set(name, text);
        }
    }
    files.set('threads-worker.js', (await byTerser(threadsWorker(platform))).code);
    return files;
}

/**
 * @param {Family} family
 * @param {Required<BundleOptions> & { platform: Platform }} options
 * @returns {Promise<[name: string, text: string][]>}
 */
async function filesOf(family, { platform, root, small, glue }) {
    const pathOf = (/** @type {string} */ module) =>
        join(root, 'js', `${module.replace(/\.web$/, `.${platform}`)}.js`);
    const { rollup } = await import('rollup');
    const made = await rollup({
        input: Object.fromEntries(
            Object.entries(family.entries).map(([name, module]) => [name, pathOf(module)]),
        ),
        // The parts that are loaded later import shared code from the entry's file, so that it stays one file.
        preserveEntrySignatures: 'allow-extension',
        // An optional peer dependency of the emulator, and Node's own modules.
        external: (id) => /^(fake-indexeddb$|node:|file:)/.test(id),
        plugins: [
            glueFiles(platform, glue),
            forPlatform(platform),
            otherFamilies(family, pathOf),
            small && minified,
        ],
        onwarn: ({ message }) => {
            throw new Failure(`Rollup: ${message}`);
        },
    });
    const { output } = await made.generate({
        dir: join(root, 'dist', platform),
        format: 'es',
        sourcemap: small,
        entryFileNames: '[name].js',
        chunkFileNames: '[name].js',
        manualChunks: chunkNames(family, pathOf),
        onlyExplicitManualChunks: true,
        hoistTransitiveImports: false,
    });
    await made.close();
    return linked(output);
}

/**
 * The text of each file. A file links only with files of the same build.
 *
 * @param {(import('rollup').OutputChunk | import('rollup').OutputAsset)[]} output
 * @returns {[name: string, text: string][]}
 */
function linked(output) {
    const chunks = output.filter((file) => file.type === 'chunk');
    const build = buildName(chunks);
    const imported = new Set(chunks.flatMap(({ imports }) => imports));
    return output.map((file) => {
        if (file.type !== 'chunk') return [file.fileName, String(file.source)];
        const others = file.imports.filter((name) => chunks.some(({ fileName }) => fileName === name));
        const links = others.map((name, at) => `import{${build} as ${build}_${at}}from"./${name}";\n`);
        if (imported.has(file.fileName)) links.push(`export const ${build}=0;\n`);
        return [file.fileName, withLinks(file.code, links.join(''))];
    });
}

/**
 * The name of an export that each imported file has besides its own, and that the importing files name too. All other
 * names that files share have one letter. If a cache mixed the files of two builds, they would get wrong functions of
 * each other; because of this name they do not link at all.
 *
 * @param {{ code: string }[]} chunks
 */
function buildName(chunks) {
    const hash = createHash('sha256');
    for (const { code } of chunks) hash.update(code);
    return `build_${hash.digest('hex').slice(0, 8)}`;
}

/** Puts the links behind the code, so that the source map stays right. @param {string} code @param {string} links */
const withLinks = (code, links) => code.replace(/\n?(\/\/# sourceMappingURL=.*\n?)?$/, `\n${links}$1`);

/** @typedef {(module: string) => string} PathOf */

/**
 * @param {Family} family
 * @param {PathOf} pathOf
 * @returns {import('rollup').GetManualChunk}
 */
function chunkNames({ chunks }, pathOf) {
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
 * Resolves the glue of a module, which is imported as if it lay beside the file that imports it.
 * @param {Platform} platform
 * @param {Map<string, string>} given
 * @returns {import('rollup').Plugin}
 */
function glueFiles(platform, given) {
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
            return { code: given.get(core) ?? glueOf(core, platform), moduleSideEffects: false };
        },
    };
}

/**
 * Resolves x.web.js to its sibling x.node.js for Node.
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
 * @param {Family} family
 * @param {PathOf} pathOf
 * @returns {import('rollup').Plugin}
 */
function otherFamilies({ entries }, pathOf) {
    const own = Object.values(entries);
    const others = new Map(
        [...OTHERS]
            .filter(([module]) => !own.includes(module))
            .map(([module, file]) => [pathOf(module), file]),
    );
    return {
        name: 'other families',
        resolveId(source, importer) {
            const file = importer && others.get(join(dirname(importer), source));
            return file ? { id: file, external: true } : null;
        },
    };
}

/** The comments within an import(), which tell bundlers to leave it as it is. */
const forBundlers = /webpackIgnore|@vite-ignore/;

/**
 * Minifies by esbuild and then by terser: the result is 2.5 % smaller than that of terser alone.
 * @type {import('rollup').Plugin}
 */
const minified = {
    name: 'minify',
    async renderChunk(code) {
        const { transform } = await import('esbuild');
        const first = await transform(code, {
            format: 'esm',
            minifyIdentifiers: true,
            minifySyntax: true,
            minifyWhitespace: !forBundlers.test(code), // with it, no comment is left for terser
            sourcemap: 'external',
            target: 'es2022',
        });
        return byTerser(first.code, first.map);
    },
};

/** The folders that declare members for other files of the package only: their names begin with `_`. */
const INTERNAL = ['common', 'compat', 'core', 'host', 'limits', 'lock', 'queue', 'tab', 'threads'];

/**
 * The folders whose classes no application sees. Their compound names are internal too, unless the platform has them.
 */
const HIDDEN = ['core', 'host'];

/** The declaration of a member in a class. */
const declared = /^ {4}(?:async |static |get )*([a-z]+[A-Z]\w*)(?:\(| =|;)/gm;

/**
 * The short names of internal members. All files get the same ones, since a file uses objects of another.
 *
 * @returns {[name: string, short: string][]}
 */
function internalNames() {
    const found = (/** @type {string} */ folder, /** @type {RegExp} */ pattern) =>
        readdirSync(join(repository, 'js', folder), { recursive: true, encoding: 'utf8' })
            .filter((file) => file.endsWith('.js') && !file.includes('generated'))
            .map((file) => readFileSync(join(repository, 'js', folder, file), 'utf8'))
            .flatMap((source) => [...source.matchAll(pattern)].map(([, name = '']) => name));
    const own = new Set([
        ...INTERNAL.flatMap((folder) => found(folder, /\.(_[a-z][A-Za-z]*)\b/g)),
        ...HIDDEN.flatMap((folder) => found(folder, declared)),
        ...hostEvents.map(({ name }) => camel(name)).filter((name) => /[A-Z]/.test(name)),
    ]);
    own.delete('_initialize'); // an export of the program
    own.delete('reportError'); // a function of the platform
    return [...own].sort().map((name, i) => [name, `_${i.toString(36)}`]);
}

/**
 * Minifies a source by terser. Names of properties that are not internal stay: wasm imports are looked up by them.
 *
 * @param {string} source
 * @param {string} [map] the source map of the source, if it was generated
 */
async function byTerser(source, map) {
    const { minify } = await import('terser');
    const names = internalNames();
    const result = await minify(source, {
        module: true,
        ecma: 2020,
        mangle: { properties: { regex: new RegExp(`^(${names.map(([name]) => name).join('|')})$`) } },
        nameCache: {
            props: { props: Object.fromEntries(names.map(([name, short]) => [`$${name}`, short])) },
        },
        // Each choice makes the files smaller, once compressed.
        compress: { passes: 2, sequences: false, hoist_funs: true, inline: 1 },
        format: { comments: forBundlers },
        ...(map && { sourceMap: { content: map } }),
    });
    if (!result.code) throw new Failure('terser returned no code for a module');
    return { code: result.code, map: typeof result.map === 'string' ? result.map : null };
}
