/** Loads an earlier version of the package, as npm published it, beside the present one. */

import { readFileSync } from 'node:fs';
import * as fakeIndexedDB from 'fake-indexeddb';
import { unpackVersion } from './unpack-version.js';

/** @typedef {typeof import('tabacus/emulator')} Emulator */

/**
 * @typedef {object} PackedVersion
 * @property {string} version
 * @property {string} url of its `tabacus` entry
 * @property {typeof import('tabacus').open} open
 * @property {Emulator['createOrigin']} createOrigin
 */

/**
 * Unpacks a tarball, and loads the package.
 * A module that this copy imports comes from the folder, not from this repository's `dist`.
 *
 * @param {URL} tarball
 * @returns {Promise<PackedVersion>}
 */
export async function loadPackedVersion(tarball) {
    const root = unpackVersion(tarball);
    const { version, exports } = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
    const entry = (/** @type {string} */ name) => new URL(exports[name].node, root).href;
    const [tabacus, emulator] = await Promise.all([import(entry('.')), import(entry('./emulator'))]);
    // 0.1.0 chooses this build by itself on a page that is not isolated. Later versions have no such option.
    const build = version === '0.1.0' ? { build: 'single' } : {};
    return {
        version,
        url: entry('.'),
        open: (options) => tabacus.open({ ...build, ...options }),
        // The folder has no node_modules, so the optional peer dependency is passed.
        createOrigin: (options) => emulator.createOrigin({ fakeIndexedDB, ...options }),
    };
}
