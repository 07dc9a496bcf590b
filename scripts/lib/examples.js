/** Installs examples with the packed package, builds and serves them, each in a folder of its own. */

import {
    cpSync,
    mkdirSync,
    openSync,
    readdirSync,
    readFileSync,
    renameSync,
    rmSync,
    writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import { createServer as createNetServer } from 'node:net';
import { delimiter, join } from 'node:path';
import { killGroup, startGroup } from '../../tests/browser/harness/processes.js';
import { until, within } from '../../tests/browser/harness/waiting.js';
import { createServer } from '../../web/server.js';
import { Failure } from './failure.js';
import { buildFolder, logFolder, repository } from './paths.js';
import { command, run, tail } from './run.js';

/** @typedef {import('./example-list.js').Example} Example */
/** @typedef {import('./example-list.js').Way} Way */

/** @typedef {{ url: string, close: () => Promise<void> }} Served */

const examplesFolder = join(buildFolder, 'examples');

/** @param {string} name of an example */
export const folderOf = (name) => join(examplesFolder, name);

/** The longest time for a framework's build, or its first answer, on a busy machine: one that needs longer hangs. */
const READY_MS = 240_000;

/** The strictest policy for scripts under which tabacus works. Styles are left out: the examples have them inline. */
const CSP = "script-src 'self' 'wasm-unsafe-eval'";

/** The folder that stays from an earlier run: the installed dependencies. */
const KEPT = 'node_modules';

/** The environment without the variables that npm and Node's test runner set, since they change what a child does. */
const cleanEnvironment = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(npm_|NODE_OPTIONS|NODE_TEST_CONTEXT)/.test(name)),
);

/** @param {string} folder of an example @param {Record<string, string>} [more] */
const environment = (folder, more = {}) => ({
    ...cleanEnvironment,
    PATH: [join(folder, 'node_modules/.bin'), process.env.PATH].join(delimiter),
    NEXT_TELEMETRY_DISABLED: '1',
    NUXT_TELEMETRY_DISABLED: '1',
    ...more,
});

/** Packs dist/ without building it, into the folder of the examples. */
export async function packTarball() {
    mkdirSync(examplesFolder, { recursive: true });
    const packing = ['pack', '--ignore-scripts', '--pack-destination', examplesFolder];
    await run(command('npm', packing, { env: cleanEnvironment }), join(logFolder, 'examples-pack.log'));
    const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8'));
    renameSync(join(examplesFolder, `tabacus-${version}.tgz`), join(examplesFolder, 'tabacus.tgz'));
}

/** @param {string} name */
const logOf = (name) => join(logFolder, `example-${name}.log`);

/**
 * Copies an example and installs its dependencies. Those of an earlier run stay, except for the package itself.
 *
 * @param {string} name
 * @param {Example} example
 */
export async function installExample(name, { source = name, tools, files = {} }) {
    const folder = folderOf(name);
    mkdirSync(folder, { recursive: true });
    for (const old of readdirSync(folder)) if (old !== KEPT) rmSync(join(folder, old), { recursive: true });
    for (const old of ['tabacus', '.package-lock.json', '.cache', '.vite'])
        rmSync(join(folder, KEPT, old), { recursive: true, force: true });
    cpSync(join(repository, 'examples', source), folder, { recursive: true });
    for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text);
    if (tools) {
        const manifest = join(folder, 'package.json');
        const { dependencies, ...rest } = JSON.parse(readFileSync(manifest, 'utf8'));
        writeFileSync(manifest, JSON.stringify({ ...rest, dependencies, devDependencies: tools }));
    }
    rmSync(logOf(name), { force: true });
    const installing = ['install', '--no-package-lock', '--no-audit', '--no-fund', '--prefer-offline'];
    await run(command('npm', installing, { cwd: folder, env: cleanEnvironment }), logOf(name));
}

/** @param {string} name @param {Way} way */
export async function buildExample(name, { build }) {
    if (!build) return;
    const child = start(name, build);
    try {
        const [code] = await within(once(child, 'exit'), `the build of ${name}`, READY_MS);
        if (code !== 0) throw new Error(`${build.join(' ')} failed (${code})`);
    } catch (error) {
        throw withLog(name, error);
    } finally {
        await killGroup(child);
    }
}

/** @param {string} name @param {string[]} words @param {Record<string, string>} [env] */
function start(name, [file = '', ...args], env) {
    const cwd = folderOf(name);
    const log = openSync(logOf(name), 'a');
    return startGroup(file, args, { cwd, env: environment(cwd, env), stdio: ['ignore', log, log] });
}

/** @param {string} name @param {unknown} error */
const withLog = (name, error) => new Failure(`${/** @type {Error} */ (error).message}\n${tail(logOf(name))}`);

/** @param {string} name @param {Way} way @returns {Promise<Served>} */
export async function serveExample(name, { serve, folder: files = '.', inlineScripts }) {
    const policy = { isolated: false, csp: inlineScripts ? null : CSP };
    if (!serve) return createServer({ root: join(folderOf(name), files), ...policy });
    const port = await freePort();
    const child = start(name, serve(port), { PORT: port, HOST: '127.0.0.1' });
    const url = `http://127.0.0.1:${port}`;
    const close = () => killGroup(child);
    try {
        await until(() => answers(child, url), `the first answer of ${name}`, READY_MS);
    } catch (error) {
        await close();
        throw withLog(name, error);
    }
    return { url, close };
}

/** Returns a port that was free when the function looked. */
async function freePort() {
    const server = createNetServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address());
    server.close();
    await once(server, 'close');
    return String(port);
}

/** @param {import('node:child_process').ChildProcess} child @param {string} url */
async function answers(child, url) {
    if (child.exitCode !== null)
        throw new Failure(`the server of the example ended with exit code ${child.exitCode}`);
    const response = await fetch(url).catch(() => undefined);
    return response?.ok;
}
