/**
 * Whether something must be made again, told from the content of what goes in and of what came out:
 * a changed, missing or damaged output is made again just as a changed input is.
 */

import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildFolder } from './paths.js';

/**
 * @typedef {object} Product
 * @property {string} name Names the stamp.
 * @property {string[]} inputs Files and folders (with all that is in them), or plain words.
 * @property {string[]} outputs Files and folders.
 */

/**
 * Makes a product unless it is as its last making left it. Tells whether it was made.
 * @param {Product} product
 * @param {() => void | Promise<void>} make
 */
export async function whenStale({ name, inputs, outputs }, make) {
    const stamp = join(buildFolder, 'stamps', name);
    const before = digest(inputs);
    if (existsSync(stamp) && readFileSync(stamp, 'utf8') === before + digest(outputs)) return false;
    await make();
    mkdirSync(dirname(stamp), { recursive: true });
    writeFileSync(stamp, before + digest(outputs));
    return true;
}

/** @param {string[]} parts */
export function digest(parts) {
    const hash = createHash('sha256');
    for (const part of parts) feed(hash, part);
    return hash.digest('hex');
}

/**
 * @param {import('node:crypto').Hash} hash
 * @param {string} part
 */
function feed(hash, part) {
    hash.update(`${part}\0`);
    const found = statSync(part, { throwIfNoEntry: false });
    if (found?.isFile()) hash.update(readFileSync(part));
    if (found?.isDirectory()) for (const entry of readdirSync(part).sort()) feed(hash, join(part, entry));
}
