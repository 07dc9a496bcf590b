/** Runs the applications of examples/ whose tools the repository has, in two tabs. `npm run examples` runs all. */

import assert from 'node:assert/strict';
import { cp, readdir, readFile, symlink } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { after, before, it } from 'node:test';

import { checkExample, extensionAddress } from './example-check.js';
import { EXAMPLES } from '../../scripts/lib/example-list.js';
import { createServer } from '../../web/server.js';
import { describeIn, ENGINES } from '../browser/harness/engines.js';
import { install, repository, run } from './package.js';

/** @typedef {import('../browser/harness/chromium.js').ChromiumBrowser} Browser */

const SMALL = ['esbuild', 'service-worker', 'extension'];

const PATH = [join(repository, 'node_modules/.bin'), process.env.PATH].join(delimiter);

describeIn([ENGINES.chromium], 'The example', (engine) => {
    /** @type {import('./package.js').Installed} */
    let installed;
    /** @type {Browser} */
    let browser;

    before(async () => {
        [installed, browser] = await Promise.all([
            install(),
            /** @type {Promise<Browser>} */ (engine.launch()),
        ]);
        for (const name of SMALL) {
            const folder = join(installed.folder, name);
            await cp(join(repository, 'examples', name), folder, { recursive: true });
            await symlink(join(installed.folder, 'node_modules'), join(folder, 'node_modules'));
        }
    });
    after(async () => {
        await browser?.close();
        await installed?.remove();
    });

    /** @param {string} folder @param {string} page */
    const checkExtension = async (folder, page) => {
        const own = /** @type {Browser} */ (await engine.launch({ extension: folder }));
        try {
            return await checkExample(own, `${await extensionAddress(own)}${page}`);
        } finally {
            await own.close();
        }
    };

    /** @param {string} folder @param {string} page */
    const checkPage = async (folder, page) => {
        const csp = "script-src 'self' 'wasm-unsafe-eval'";
        const server = await createServer({ root: folder, isolated: false, csp });
        try {
            return await checkExample(browser, `${server.url}${page}`);
        } finally {
            await server.close();
        }
    };

    for (const name of SMALL) {
        for (const { name: way, build, folder = '.', page = '/', extension } of EXAMPLES[name]?.ways ?? []) {
            it(`${name} (${way}) counts exactly in two tabs, and each takes the lock`, async () => {
                const project = join(installed.folder, name);
                const [file = '', ...args] = build ?? [];
                if (file) await run(file, args, { cwd: project, env: { ...process.env, PATH } });
                const check = extension ? checkExtension : checkPage;
                assert.deepEqual(await check(join(project, folder), page), []);
            });
        }
    }

    it('every folder of examples/ has a README that describes it, and npm run examples runs it', async () => {
        const entries = await readdir(join(repository, 'examples'), { withFileTypes: true });
        const folders = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
        const known = Object.entries(EXAMPLES).flatMap(([name, { source }]) => (source ? [] : [name]));
        assert.deepEqual(folders.sort(), known.sort());
        for (const name of folders) {
            const manifest = await readFile(join(repository, 'examples', name, 'package.json'), 'utf8');
            assert.equal(JSON.parse(manifest).dependencies.tabacus, 'file:../tabacus.tgz');
            assert.match(
                await readFile(join(repository, 'examples', name, 'README.md'), 'utf8'),
                /^# .+\n\n\w/,
            );
        }
    });
});
