/** The recipe of docs/signing-out.md in real tabs. The server clears the site's data by Clear-Site-Data. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';

import { createServer } from '../../web/server.js';
import { describeIn, ENGINES } from './harness/engines.js';
import { useBoth } from './harness/fixture.js';
import { DIST } from './harness/site.js';
import { until } from './harness/waiting.js';

/** @typedef {import('./harness/tab.js').Tab} Tab */

const page = readFileSync(new URL('../../docs/signing-out.md', import.meta.url), 'utf8');
const blocks = [...page.matchAll(/```(?:js|javascript)\n([^]*?)```/g)].map(([, block = '']) => block);
const recipe = blocks.find((block) => block.includes('export async function session')) ?? '';

/** Serves the recipe, tokens that differ from each other, and the end of the session. */
async function serve() {
    const log = { refreshes: 0, ended: 0 };
    const server = await createServer({
        mounts: { '/': new URL('./page', import.meta.url), '/dist': DIST },
        handlers: {
            '/session.js': async (_, response) => {
                response.setHeader('Content-Type', 'text/javascript');
                response.end(recipe.replace("'tabacus'", "'/dist/web/tabacus.js'"));
            },
            '/refresh': async (_, response) => void response.end(`SECRET ${++log.refreshes}`),
            '/sign-out': async (_, response) => {
                log.ended++;
                response.setHeader('Clear-Site-Data', '"cache", "cookies", "storage"');
                response.end();
            },
        },
    });
    return { ...server, log };
}

/** Begins the session of a tab. Runs in the page. */
async function begin() {
    const { session } = await import(/** @type {any} */ ('/session.js'));
    const refresh = async (/** @type {any} */ { signal }) => (await fetch('/refresh', { signal })).text();
    const clear = () => fetch('/sign-out', { method: 'POST' });
    /** @type {any} */ (globalThis).session = await session(refresh, clear);
}

/** Returns the tab's token. Runs in the page. */
const token = () => /** @type {any} */ (globalThis).session.token();

/** Returns the contents of localStorage and of IndexedDB as text. Runs in the page. */
async function disk() {
    const texts = [JSON.stringify(localStorage)];
    const done = (/** @type {IDBRequest} */ request) =>
        new Promise((resolve, reject) => {
            request.onsuccess = () => resolve(request.result);
            request.onerror = () => reject(request.error);
        });
    for (const { name } of await indexedDB.databases()) {
        const database = await done(indexedDB.open(String(name)));
        for (const store of database.objectStoreNames) {
            const rows = database.transaction(store).objectStore(store);
            texts.push(JSON.stringify([await done(rows.getAllKeys()), await done(rows.getAll())]));
        }
        database.close();
    }
    return texts.join('\n');
}

const { chromium, firefox, webkit } = ENGINES;

describeIn([chromium, firefox, webkit], 'Signing out', (engine) => {
    const both = useBoth(engine, serve);

    it('a sign-out in one tab ends the session of all, and no secret was ever on the disk', async () => {
        const { browser, server } = both;
        const tabs = [await browser.openTab(`${server.url}/away.html`)];
        tabs.push(await browser.openTab(`${server.url}/away.html`));
        const [first, second] = /** @type {[Tab, Tab]} */ (tabs);
        for (const tab of tabs) await tab.evaluate(begin);
        const tokens = await Promise.all(tabs.map((tab) => tab.evaluate(token)));
        assert.deepEqual(tokens, ['SECRET 1', 'SECRET 1']);
        assert.doesNotMatch(await second.evaluate(disk), /SECRET/);
        await first.evaluate(() => {
            setTimeout(() => /** @type {any} */ (globalThis).session.signOut());
        });
        for (const tab of tabs) {
            await until(
                () => tab.evaluate(() => !('session' in globalThis)).catch(() => false),
                'the reload',
            );
        }
        assert.deepEqual(server.log, { refreshes: 1, ended: 1 });
        assert.doesNotMatch(await first.evaluate(disk), /SECRET|access token/);
        for (const tab of tabs) await tab.evaluate(begin);
        assert.deepEqual(await Promise.all(tabs.map((tab) => tab.evaluate(token))), ['SECRET 2', 'SECRET 2']);
    });
});
