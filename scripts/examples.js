/**
 * npm run examples [-- [--packed] name…]: packs dist/ once. Then it installs, builds and serves each example, or each
 * named one, and opens it in two tabs of Chromium. The installed examples stay in build/examples for the next run.
 */

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { browsers } from './lib/browsers.js';
import { build, WASM_PRESETS } from './lib/cmake.js';
import { EXAMPLES } from './lib/example-list.js';
import { Failure, main } from './lib/failure.js';
import { nodeModules } from './lib/node-modules.js';
import { pack } from './lib/pack.js';
import { step } from './lib/progress.js';
import { toolchain } from './lib/toolchain.js';
import { types } from './lib/types.js';

/** Checks the arguments before anything is built. */
function chosen() {
    const names = process.argv.slice(2).filter((argument) => argument !== '--packed');
    const unknown = names.find((name) => !Object.hasOwn(EXAMPLES, name));
    if (unknown === undefined) return names.length > 0 ? names : Object.keys(EXAMPLES);
    throw new Failure(`unknown example "${unknown}"; choose one of: ${Object.keys(EXAMPLES).join(', ')}`);
}

/** Builds dist/; with `--packed`, leaves dist/ as it is. */
async function makePackage() {
    await nodeModules();
    await browsers();
    if (process.argv.includes('--packed')) return;
    await toolchain();
    for (const preset of WASM_PRESETS) await build(preset);
    await pack();
    await types();
}

/** @typedef {import('../tests/browser/harness/chromium.js').ChromiumBrowser} Browser */
/** @typedef {import('./lib/example-list.js').Way} Way */

/**
 * @param {string} name
 * @param {Browser} browser
 * @returns {Promise<string[]>} what failed
 */
async function runExample(name, browser) {
    const { installExample } = await import('./lib/examples.js');
    const example = /** @type {import('./lib/example-list.js').Example} */ (EXAMPLES[name]);
    const failures = /** @type {string[]} */ ([]);
    /** @param {string} part @param {() => Promise<unknown>} body */
    const attempt = (part, body) =>
        step(`${name}: ${part}`, body).catch((error) => {
            console.error(error.message);
            failures.push(`${name}: ${part}`);
        });
    await attempt('install', () => installExample(name, example));
    if (failures.length > 0) return failures;
    for (const way of example.ways) await attempt(way.name, () => runWay(name, way, browser));
    return failures;
}

/** @param {string} name @param {Way} way @param {Browser} browser */
async function runWay(name, way, browser) {
    const { buildExample, folderOf, serveExample } = await import('./lib/examples.js');
    const { checkExample } = await import('../tests/consumers/example-check.js');
    await buildExample(name, way);
    if (way.holds) return checkFile(join(folderOf(name), way.holds.file), way.holds.text);
    if (way.extension) return checkExtension(join(folderOf(name), way.folder ?? '.'), way.page ?? '/');
    const served = await serveExample(name, way);
    try {
        await checkExample(browser, `${served.url}${way.page ?? '/'}`);
        if (way.route) await checkRoute(`${served.url}${way.route}`);
    } finally {
        await served.close();
    }
}

/** @param {string} file @param {string} text */
function checkFile(file, text) {
    if (!readFileSync(file, 'utf8').includes(text)) throw new Failure(`${file} has no "${text}"`);
}

/** @param {string} url */
async function checkRoute(url) {
    const { status } = await fetch(url);
    if (status !== 200) throw new Failure(`${url} answers ${status}`);
}

/** @param {string} folder @param {string} page */
async function checkExtension(folder, page) {
    const { checkExample, extensionAddress } = await import('../tests/consumers/example-check.js');
    const browser = await launch({ extension: folder });
    try {
        await checkExample(browser, `${await extensionAddress(browser)}${page}`);
    } finally {
        await browser.close();
    }
}

/** @param {import('../tests/browser/harness/engines.js').LaunchOptions} [options] */
async function launch(options) {
    const { ENGINES } = await import('../tests/browser/harness/engines.js');
    const { launch, missing } = ENGINES.chromium;
    if (missing) throw new Failure(missing);
    return /** @type {Promise<import('../tests/browser/harness/chromium.js').ChromiumBrowser>} */ (
        launch(options)
    );
}

await main(async () => {
    const names = chosen();
    await makePackage();
    const { packTarball } = await import('./lib/examples.js');
    await packTarball();
    const browser = await launch();
    const failures = /** @type {string[]} */ ([]);
    try {
        for (const name of names) failures.push(...(await runExample(name, browser)));
    } finally {
        await browser.close();
    }
    const ways = names.reduce((sum, name) => sum + (EXAMPLES[name]?.ways.length ?? 0), 0);
    for (const failure of failures) console.error(`✗ ${failure}`);
    console.log(`${ways - failures.length} passed, ${failures.length} failed`);
    if (failures.length > 0) process.exitCode = 1;
});
