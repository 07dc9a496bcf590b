/**
 * Finds the file for the path of a request, but never a file outside of what is mounted.
 *
 * A mount gives an address to a folder or to one file: `{ '/': 'demo', '/dist': 'dist' }`. Segments of paths are
 * compared as a whole. If several mounts begin a path, the longest one wins.
 */

import { realpath, stat } from 'node:fs/promises';
import { join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** @typedef {{ found: 'file', file: string, size: number, modified_ms: number }} FoundFile */
/** @typedef {{ found: 'folder' }} FoundFolder */
/** @typedef {{ found: 'nothing' }} FoundNothing */

/** @type {FoundNothing} */
const NOTHING = { found: 'nothing' };

/**
 * The decoded segments of a request's path, or null if the path is malformed or leads upwards. A segment is decoded
 * after the split, so an encoded separator (`%2f`, `%5c`) stays inside its segment and makes the path malformed.
 *
 * @param {string} path
 * @returns {string[] | null}
 */
export function segmentsOf(path) {
    if (!path.startsWith('/')) return null;
    try {
        const segments = path.slice(1).split('/').map(decodeURIComponent);
        return segments.every(isPlain) ? segments : null;
    } catch {
        return null;
    }
}

/**
 * Whether a segment is the name of an entry of a folder. Only the last segment may be empty.
 *
 * @param {string} segment
 * @param {number} index
 * @param {string[]} all
 */
function isPlain(segment, index, all) {
    if (segment === '') return index === all.length - 1;
    return segment !== '.' && segment !== '..' && !/[/\\\0]/.test(segment);
}

/** @typedef {{ segments: string[], target: string }} Mount */

/**
 * @param {Record<string, string | URL>} mounts
 * @returns {Mount[]} the longest first, so that the first match is the most specific one
 */
export function parseMounts(mounts) {
    return Object.entries(mounts)
        .map(([at, target]) => ({
            segments: at.split('/').filter((segment) => segment !== ''),
            target: target instanceof URL ? fileURLToPath(target) : target,
        }))
        .sort((a, b) => b.segments.length - a.segments.length);
}

/**
 * @param {Mount[]} mounts
 * @param {string[]} segments
 * @returns {Promise<FoundFile | FoundFolder | FoundNothing>}
 */
export async function find(mounts, segments) {
    const mount = mounts.find(({ segments: at }) => at.every((name, i) => name === segments[i]));
    if (!mount) return NOTHING;
    const inside = segments.slice(mount.segments.length);
    try {
        const root = await realpath(mount.target);
        const asked = inside.length === 0 ? root : join(root, ...inside);
        return await resolveFile(root, asked, inside.at(-1) === '');
    } catch {
        return NOTHING;
    }
}

/**
 * Finds the file at a path. Symbolic links are resolved before the path is checked, so that no link leads out of its
 * mount.
 *
 * @param {string} root
 * @param {string} asked
 * @param {boolean} asFolder  whether the path ended in a slash
 * @returns {Promise<FoundFile | FoundFolder | FoundNothing>}
 */
async function resolveFile(root, asked, asFolder) {
    const file = await realpath(asFolder ? join(asked, 'index.html') : asked);
    if (file !== root && !file.startsWith(root + sep)) return NOTHING;
    const stats = await stat(file);
    if (stats.isDirectory()) return asFolder ? NOTHING : { found: 'folder' };
    if (!stats.isFile()) return NOTHING;
    return { found: 'file', file, size: stats.size, modified_ms: stats.mtimeMs };
}
