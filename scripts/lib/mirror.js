/** Reads from the apt sources of this machine which Debian mirror it uses. */

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** @typedef {{ uri: string, suites: string[], components: string[] }} Source */

/**
 * The address of a mirror of Debian's main archive, or undefined if this machine uses none.
 * @param {string} [apt] the folder of apt's configuration
 */
export function debianMirror(apt = '/etc/apt') {
    const main = aptSources(apt).filter(isDebianArchive);
    const named = main.find(({ uri }) => /\/debian\/?$/.test(uri));
    return (named ?? main[0])?.uri;
}

/**
 * Whether the source is a release of Debian, and not its security archive or the packages of another vendor.
 * @param {Source} source
 */
function isDebianArchive({ uri, suites, components }) {
    const releases = /^(bookworm|trixie|forky|duke|sid|(old)*stable|testing|unstable)$/;
    return (
        /^(https?|file):/.test(uri) &&
        !/security/.test(uri) &&
        components.includes('main') &&
        suites.some((suite) => releases.test(suite))
    );
}

/**
 * @param {string} apt
 * @returns {Source[]}
 */
export function aptSources(apt) {
    const folder = join(apt, 'sources.list.d');
    const parts = existsSync(folder)
        ? readdirSync(folder)
              .sort()
              .map((name) => join(folder, name))
        : [];
    const files = [join(apt, 'sources.list'), ...parts].filter((file) => existsSync(file));
    return files.flatMap((file) => {
        const text = readFileSync(file, 'utf8');
        return file.endsWith('.sources') ? deb822(text) : file.endsWith('.list') ? oneLine(text) : [];
    });
}

/**
 * Reads sources in the format deb822: paragraphs of fields such as `Types: deb`.
 * @param {string} text
 * @returns {Source[]}
 */
function deb822(text) {
    const bare = text.replace(/^#.*\n?/gm, '');
    return bare.split(/\n\s*\n/).flatMap((paragraph) => {
        /** @param {string} name */
        const field = (name) => {
            const found = paragraph.match(new RegExp(`^${name}:((?:.*)(?:\\n[ \\t].*)*)`, 'im'));
            return found?.[1]?.trim().split(/\s+/).filter(Boolean) ?? [];
        };
        if (!field('Types').includes('deb') || field('Enabled')[0] === 'no') return [];
        const [suites, components] = [field('Suites'), field('Components')];
        return field('URIs').map((uri) => ({ uri, suites, components }));
    });
}

/**
 * Reads sources in the one-line format: `deb [options] uri suite component…`.
 * @param {string} text
 * @returns {Source[]}
 */
function oneLine(text) {
    return [...text.matchAll(/^\s*deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)([^#\n]*)/gm)].map((line) => ({
        uri: /** @type {string} */ (line[1]),
        suites: [/** @type {string} */ (line[2])],
        components: (line[3] ?? '').trim().split(/\s+/),
    }));
}
