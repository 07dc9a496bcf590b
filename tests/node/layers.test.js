/**
 * The rules of docs/architecture.md for folders: which C++ layer includes which, and how folders and headers
 * are named.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { test } from 'node:test';
import { repository } from '../../scripts/lib/paths.js';
import { sources } from '../../scripts/lib/sources.js';

const INCLUDE = 'wasm/include/';
const SOURCE = 'wasm/src/';

const files = sources('wasm/**.hpp', 'wasm/**.cpp');
const known = new Set(files);

/** The layer that a file belongs to, by its folder: `wasm/src/protocol/lock/lease/lease.cpp` is in `lock`. @param {string} file */
function layerOf(file) {
    const folders = file.replace(/^wasm\/(include\/tabacus|src)\//, '').split('/');
    return folders[0] === 'protocol' ? String(folders[1]) : String(folders[0]);
}

/** @param {string} file @returns {string[]} the files of this repository that it includes */
function includesOf(file) {
    const text = readFileSync(join(repository, file), 'utf8');
    return [...text.matchAll(/^#include "([^"]+)"/gm)].flatMap(([, path = '']) => {
        // A generated file is of the layer that includes it, or of the one below.
        if (path.includes('/generated/')) return [];
        const found = [dirname(file), INCLUDE, SOURCE]
            .map((from) => join(from, path))
            .find((at) => known.has(at));
        assert.ok(found, `${file} includes ${path}, which is not in wasm/`);
        return found;
    });
}

const PROTOCOLS = ['replica', 'strategy', 'lock', 'queue', 'limit'];

/** What each layer includes besides itself. @type {Record<string, string[]>} */
const ALLOWED = {
    sync: ['attach'], // the module that a worker attaches to has the same functions
    threads: ['sync'],
    attach: ['sync'],
    store: ['sync'],
    common: [],
    ...Object.fromEntries(PROTOCOLS.map((name) => [name, ['common']])),
    browser: ['common', ...PROTOCOLS],
    lab: ['common', ...PROTOCOLS, 'sync'],
    bindings: ['browser', 'lab', 'sync', 'threads'],
    matrix: ['lab'],
};

/** The only header of another protocol that queues and limits may include. */
const LOCK_API = `${INCLUDE}tabacus/lock/lock.hpp`;

test('a C++ layer includes only the layers below it', () => {
    for (const file of files) {
        const from = layerOf(file);
        for (const included of includesOf(file)) {
            const to = layerOf(included);
            const good =
                from === to ||
                ALLOWED[from]?.includes(to) ||
                ((from === 'queue' || from === 'limit') && included === LOCK_API);
            assert.ok(good, `${file} (${from}) includes ${included} (${to})`);
        }
    }
});

/** The layers of a file and of all that it includes, directly or not. @param {string} root */
function layersUnder(root) {
    const reached = new Set([root]);
    for (const file of reached) for (const included of includesOf(file)) reached.add(included);
    return new Set([...reached].map(layerOf));
}

test('no program includes both the laboratory and the browser', () => {
    for (const root of files.filter((file) => file.endsWith('.cpp'))) {
        const layers = layersUnder(root);
        assert.ok(!(layers.has('lab') && layers.has('browser')), root);
    }
});

test('the programs in shared memory contain what threads share, and no protocol', () => {
    const roots = files.filter((file) =>
        /^wasm\/src\/(sync|attach|store|bindings\/threads)\/[^/]+\.cpp$/.test(file),
    );
    assert.equal(roots.length, 4);
    const allowed = ['sync', 'attach', 'store', 'threads', 'bindings'];
    for (const root of roots) {
        for (const layer of layersUnder(root)) assert.ok(allowed.includes(layer), `${root} (${layer})`);
    }
});

test('every header has a file name of its own', () => {
    /** @type {Map<string, string>} */
    const seen = new Map();
    for (const file of files.filter((one) => one.endsWith('.hpp'))) {
        assert.equal(seen.get(basename(file)), undefined, `${file} and ${seen.get(basename(file))}`);
        seen.set(basename(file), file);
    }
});

test('no folder of js or wasm holds more than thirty files', () => {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const file of sources('js/**', 'wasm/**')) {
        counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    }
    assert.ok(counts.size > 20);
    for (const [folder, count] of counts) assert.ok(count <= 30, `${folder} holds ${count} files`);
});
