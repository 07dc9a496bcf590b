/**
 * The examples that `npm run examples` can run: the applications of examples/, and the page of examples/esbuild in
 * further set-ups, which differ from it in a tool and in at most one line.
 */

/**
 * One way to build and to serve an installed example. A command of its own serves it, or our server if it is a folder
 * of static files.
 *
 * @typedef {object} Way
 * @property {string} name `production`, `dev`, …
 * @property {string[]} [build] the command that builds it, if there is something to build
 * @property {(port: string) => string[]} [serve] the command that serves it, if it is not a folder of static files
 * @property {string} [folder] the folder of static files
 * @property {string} [page] the path of the page, `/` if left out
 * @property {{ file: string, text: string }} [holds] a file that must contain a text; nothing is served
 * @property {string} [route] a path that the server itself must answer
 * @property {boolean} [inlineScripts] whether the tool writes scripts into the page, which a strict policy forbids
 * @property {boolean} [extension] whether the folder is an extension, which a browser loads without a server
 */

/**
 * @typedef {object} Example
 * @property {string} [source] its folder in examples/, if that has another name
 * @property {Record<string, string>} [tools] the devDependencies that replace those of the source
 * @property {Record<string, string>} [files] the text of further files by their names
 * @property {Way[]} ways
 */

const npmRunBuild = ['npm', 'run', 'build'];

/** @param {string[]} command @returns {(port: string) => string[]} */
const vite =
    (...command) =>
    (port) => [...command, '--host', '127.0.0.1', '--strictPort', '--port', port];

/** @param {string[]} command @returns {(port: string) => string[]} */
const next =
    (...command) =>
    (port) => ['next', ...command, '--hostname', '127.0.0.1', '--port', port];

/** @type {Record<string, Example>} The applications of examples/. */
const APPLICATIONS = {
    'vite-react': {
        ways: [
            { name: 'production', build: npmRunBuild, folder: 'dist' },
            { name: 'dev', serve: vite('vite') },
        ],
    },
    next: {
        ways: [
            { name: 'production', build: npmRunBuild, serve: next('start'), route: '/api/clicks' },
            {
                name: 'production, webpack',
                build: ['next', 'build', '--webpack'],
                serve: next('start'),
            },
            { name: 'dev', serve: next('dev'), route: '/api/clicks' },
            { name: 'dev, webpack', serve: next('dev', '--webpack') },
        ],
    },
    nuxt: {
        ways: [
            { name: 'production', build: npmRunBuild, serve: () => ['node', '.output/server/index.mjs'] },
            { name: 'dev', serve: (port) => ['nuxt', 'dev', '--host', '127.0.0.1', '--port', port] },
        ],
    },
    sveltekit: {
        ways: [
            { name: 'production', build: npmRunBuild, serve: () => ['node', 'build'] },
            { name: 'dev', serve: vite('vite', 'dev') },
        ],
    },
    angular: {
        ways: [
            { name: 'production', build: npmRunBuild, folder: 'dist/browser' },
            { name: 'dev', serve: (port) => ['ng', 'serve', '--host', '127.0.0.1', '--port', port] },
        ],
    },
    esbuild: { ways: [{ name: 'production', build: npmRunBuild, folder: 'dist' }] },
    'service-worker': {
        ways: [
            { name: 'module', build: npmRunBuild, folder: 'dist', page: '/module/' },
            { name: 'classic', folder: 'dist', page: '/classic/' },
        ],
    },
    extension: {
        ways: [
            { name: 'production', build: npmRunBuild, folder: 'dist', page: '/index.html', extension: true },
        ],
    },
};

/** @param {string} version @returns {Example} */
const olderVite = (version) => ({
    source: 'esbuild',
    tools: { vite: version },
    files: { 'vite.config.js': "export default { optimizeDeps: { exclude: ['tabacus'] } };\n" },
    ways: [
        { name: 'production', build: ['vite', 'build'], folder: 'dist' },
        { name: 'dev', serve: vite('vite') },
    ],
});

/** A file that imports a module for its effect alone. A bundler must keep that module, and with it the text below. */
const BARE_IMPORT = { 'bare.js': "import 'tabacus/service-worker';\n" };
const survives = { file: 'dist/bare.js', text: 'coordination' };

/** The command for tools that bundle a script and leave the page alone. */
const copyPage = 'cp index.html dist';

/** @type {Record<string, Example>} The page of examples/esbuild by other tools. */
const SET_UPS = {
    'vite-6': olderVite('6.4.6'),
    'vite-7': olderVite('7.3.8'),
    rspack: {
        source: 'esbuild',
        tools: { '@rspack/core': '2.3.3', '@rspack/cli': '2.2.8' },
        files: {
            'rspack.config.js': "export default { entry: { main: './main.js', bare: './bare.js' } };\n",
            ...BARE_IMPORT,
        },
        ways: [
            {
                name: 'production',
                build: ['sh', '-c', `rspack build --mode production && ${copyPage}`],
                folder: 'dist',
            },
            { name: 'import for its effect', holds: survives },
        ],
    },
    rsbuild: {
        source: 'esbuild',
        tools: { '@rsbuild/core': '2.3.2' },
        files: {
            'rsbuild.config.js':
                "export default { source: { entry: { index: './main.js' } }, html: { template: './index.html' } };\n",
        },
        ways: [
            { name: 'production', build: ['rsbuild', 'build'], folder: 'dist' },
            { name: 'dev', serve: (port) => ['rsbuild', 'dev', '--host', '127.0.0.1', '--port', port] },
        ],
    },
    parcel: {
        source: 'esbuild',
        tools: { parcel: '2.16.4' },
        ways: [
            {
                name: 'production',
                build: ['parcel', 'build', 'index.html', '--cache-dir', '.cache'],
                folder: 'dist',
                inlineScripts: true,
            },
            {
                name: 'dev',
                serve: (port) => [
                    'parcel',
                    'index.html',
                    '--cache-dir',
                    '.cache',
                    '--host',
                    '127.0.0.1',
                    '--port',
                    port,
                ],
            },
        ],
    },
    bun: {
        source: 'esbuild',
        tools: { bun: '1.4.5' },
        files: BARE_IMPORT,
        ways: [
            {
                name: 'production',
                build: [
                    'sh',
                    '-c',
                    // npm runs no install script that has not been allowed.
                    'node node_modules/bun/install.js && bun build ./index.html --outdir=dist && cp node_modules/tabacus/dist/web/*.wasm dist',
                ],
                folder: 'dist',
            },
            {
                name: 'import for its effect',
                build: ['bun', 'build', './bare.js', '--outdir=dist'],
                holds: survives,
            },
        ],
    },
};

/** @type {Record<string, Example>} */
export const EXAMPLES = { ...APPLICATIONS, ...SET_UPS };
