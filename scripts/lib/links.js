/** Checks the links of the Markdown files: each relative one leads to a file, and each anchor to a heading. */

import { readFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import { Failure } from './failure.js';
import { repository } from './paths.js';
import { sources } from './sources.js';

/** @typedef {{ line: number, target: string }} Link */

/** A target with a scheme or a host leads out of the repository, and is not checked. */
const EXTERNAL = /^([a-z][a-z\d+.-]*:|\/\/)/i;

/** `[text](target)`, `![text](target "title")`, `[label]: target`, and `href="target"`. */
const LINKS = [
    /\]\(\s*<?([^\s<>)]+)>?(?:\s+["'(][^)]*)?\)/g,
    /^ {0,3}\[[^\]]+\]:\s+<?([^\s>]+)>?/g,
    /\s(?:href|src)="([^"]+)"/g,
];

/**
 * The lines of a text. Those of code blocks are emptied, so that the line numbers stay.
 * @param {string} text
 */
function proseLines(text) {
    let fence = '';
    return text.split('\n').map((line) => {
        const [, mark = ''] = /^\s*(`{3,}|~{3,})/.exec(line) ?? [];
        const fenced = fence !== '' || mark !== '';
        if (fence === '') fence = mark;
        else if (mark.startsWith(fence) && line.trim() === mark) fence = '';
        return fenced ? '' : line;
    });
}

/**
 * The links of a Markdown text.
 * @param {string} text
 * @returns {Link[]}
 */
export function linksOf(text) {
    return proseLines(text).flatMap((line, index) => {
        const prose = line.replace(/(`+)[^`].*?\1/g, '');
        return LINKS.flatMap((pattern) =>
            [...prose.matchAll(pattern)].map(([, target = '']) => ({ line: index + 1, target })),
        );
    });
}

/**
 * The anchor that GitHub makes of a heading: its text in lower case, without punctuation, with hyphens for spaces.
 * @param {string} heading
 */
export const slugOf = (heading) =>
    heading
        .replace(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
        .trim()
        .toLowerCase()
        .replace(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
        .replaceAll(' ', '-');

/**
 * The anchors of a Markdown text: explicit ids, and one for each heading; the anchor of a repeated heading has a
 * number.
 * @param {string} text
 * @returns {Set<string>}
 */
export function anchorsOf(text) {
    /** @type {Set<string>} */
    const anchors = new Set();
    for (const line of proseLines(text)) {
        for (const [, id = ''] of line.matchAll(/<\w+[^>]*\s(?:id|name)="([^"]+)"/g)) anchors.add(id);
        const [, heading] = /^ {0,3}#{1,6}\s+(.*?)(?:\s+#+)?\s*$/.exec(line) ?? [];
        if (heading === undefined) continue;
        const slug = slugOf(heading);
        let anchor = slug;
        for (let n = 1; anchors.has(anchor); n++) anchor = `${slug}-${n}`;
        anchors.add(anchor);
    }
    return anchors;
}

/** @param {string} path from the repository's root */
const textOf = (path) => readFileSync(join(repository, path), 'utf8');

/** @param {string[]} paths every file of the repository, and the folders that they lie in */
function withFolders(paths) {
    const known = new Set(['.', ...paths]);
    for (const path of paths) {
        for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) known.add(folder);
    }
    return known;
}

/**
 * Returns why a link is broken, or undefined if it is not.
 * @param {string} from the file that has it
 * @param {string} target
 * @param {Set<string>} known
 */
function fault(from, target, known) {
    const [path = '', anchor] = decodeURIComponent(target).split('#');
    const base = path.startsWith('/') ? '.' : dirname(from);
    const to = path === '' ? from : posix.join(base, path).replace(/\/$/, '');
    if (!known.has(to)) return `there is no file ${to}`;
    if (anchor === undefined || (!to.endsWith('.md') && /^L\d+(-L\d+)?$/.test(anchor))) return undefined;
    if (!to.endsWith('.md')) return `${to} is no Markdown file, so it has no anchor #${anchor}`;
    return anchorsOf(textOf(to)).has(anchor) ? undefined : `${to} has no heading for #${anchor}`;
}

/**
 * Checks every Markdown file of the repository.
 * @returns {Promise<number>} how many relative links there are
 * @throws {Failure} that names each broken link
 */
export async function checkLinks() {
    const known = withFolders(sources());
    const links = sources('*.md').flatMap((from) =>
        linksOf(textOf(from))
            .filter(({ target }) => !EXTERNAL.test(target))
            .map(({ line, target }) => ({
                at: `${from}:${line}: ${target}`,
                why: fault(from, target, known),
            })),
    );
    const broken = links.filter(({ why }) => why !== undefined);
    if (broken.length > 0) throw new Failure(broken.map(({ at, why }) => `${at}: ${why}`).join('\n'));
    return links.length;
}
