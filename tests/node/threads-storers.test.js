/**
 * C++ threads that use the storage and the locks of a page: tabacus::SharedStorage, tabacus::SharedLock. The modules of
 * the package run a core that contains tests/wasm/storers.cpp.
 */

import assert from 'node:assert/strict';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { bundled } from '../../scripts/lib/bundle.js';

const BUILD = new URL('../../build/', import.meta.url);
const DIST = new URL('../../dist/node/', import.meta.url);

/** @type {any} */
let storers;
/** @type {import('tabacus/threads').ThreadsMemory} */
let shared;
/** @type {string} */
let folder;

// C++ threads keep no process alive, so this timer does.
const alive = setInterval(() => {}, 1_000);

before(async () => {
    folder = await mkdtemp(fileURLToPath(new URL('storers-', BUILD)));
    await cp(DIST, folder, { recursive: true });
    const start = new URL('wasm-threads/storers.js', BUILD).href;
    const glue = `import start from ${JSON.stringify(start)};
        export default async (options) => (globalThis.storers = await start(options));`;
    const files = await bundled('node', { small: false, glue: new Map([['threads', glue]]) });
    for (const [name, text] of files) await writeFile(`${folder}/${name}`, text);
    const { threads } = await import(pathToFileURL(`${folder}/tabacus-threads.js`).href);
    shared = await threads({ wasm: new URL('wasm-threads/storers.wasm', BUILD) });
    ({ storers } = /** @type {any} */ (globalThis));
});
after(async () => {
    clearInterval(alive);
    shared.close();
    await rm(folder, { recursive: true });
});

/** @param {Storage} storage @param {string} key @param {string | null} wanted */
const becomes = (storage, key, wanted) =>
    new Promise((resolve) => {
        const check = () => {
            if (storage.getItem(key) !== wanted) return;
            shared.removeEventListener('storage', check);
            resolve(wanted);
        };
        shared.addEventListener('storage', check);
        check();
    });

test('C++ threads and the page that add under one lock lose nothing', async () => {
    const times = 2_000;
    for (let thread = 0; thread < 3; thread++) storers._start_adding(times);
    const storage = await shared.storage();
    for (let i = 0; i < times; i++) {
        await shared.locks.request('sum', () =>
            storage.setItem('sum', `${Number(storage.getItem('sum')) + 1}`),
        );
    }
    await becomes(storage, 'sum', `${4 * times}`);
});

test('a C++ thread waits for a lock that the page holds', async () => {
    const storage = await shared.storage();
    await shared.locks.request('sum', async () => {
        storers._start_reading();
        for (;;) {
            const { pending } = await shared.locks.query();
            if (pending?.some(({ name, mode }) => name === 'sum' && mode === 'shared')) break;
        }
        assert.equal(storage.getItem('read'), null);
        storage.setItem('sum', 'seen');
    });
    await becomes(storage, 'read', 'seen');
});

test('a C++ thread receives every change, and its own changes reach the page', async () => {
    const storage = await shared.storage();
    storers._start_echo();
    await becomes(storage, 'echo', 'listens');
    storage.setItem('k', 'one');
    await becomes(storage, 'echo', 'nothing to one');
    storage.setItem('k', '\ud800');
    await becomes(storage, 'echo', 'one to \ud800');
    storage.removeItem('k');
    await becomes(storage, 'echo', '\ud800 to nothing');
    storage.setItem('stop', '');
    await becomes(storage, 'echo', null);
});
