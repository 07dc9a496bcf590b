/** The litmus programs of programs.litmus, which describes their syntax. */

import { readFileSync } from 'node:fs';

/**
 * @typedef {object} Program
 * @property {string} name
 * @property {string} asks  the question that it asks
 * @property {[key: string, value: string][]} init
 * @property {string[][][]} tabs  the operations of each tab, each as words
 * @property {string[]} finally
 * @property {string[]} events
 * @property {string[][]} forbidden  sets of parts; no outcome may have all parts of a set
 */

/** @param {string} text */
const words = (text) => text.split(/\s+/).filter(Boolean);

/** @type {Record<string, (program: Program, rest: string) => void>} */
const LINES = {
    init({ init }, rest) {
        const all = words(rest);
        for (let i = 0; i + 1 < all.length; i += 2) init.push([all[i] ?? '', all[i + 1] ?? '']);
    },
    tab: ({ tabs }, rest) => void tabs.push(rest.split(';').map(words)),
    finally: (program, rest) => void program.finally.push(rest),
    events: ({ events }, rest) => void events.push(rest),
    forbid: ({ forbidden }, rest) => void forbidden.push(words(rest)),
};

/** Parses programs. Throws if a line has an unknown first word. @param {string} text @returns {Program[]} */
export function parsePrograms(text) {
    /** @type {Program[]} */
    const programs = [];
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    while (lines.length > 0) {
        const line = lines.shift() ?? '';
        const [head = '', rest = ''] = /^(\S+)\s*(.*)$/.exec(line)?.slice(1) ?? [];
        const program = programs.at(-1);
        const read = LINES[head];
        if (head === 'program') programs.push(empty(rest, lines.shift() ?? ''));
        else if (read && program) read(program, rest);
        else throw new Error(`unknown line in a litmus program: ${line}`);
    }
    return programs;
}

/** @param {string} name @param {string} asks @returns {Program} */
const empty = (name, asks) => ({ name, asks, init: [], tabs: [], finally: [], events: [], forbidden: [] });

/** @param {string} name */
const read = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');

export const PROGRAMS = Object.freeze(parsePrograms(read('programs.litmus')));

/**
 * The outcomes that the laboratory's model allows, by how a browser treats equal writes (`EqualWrites` in
 * wasm/src/lab/rules/storage_area.hpp): program → outcomes.
 *
 * @type {Record<'sent' | 'dropped', Record<string, string[]>>}
 */
export const ALLOWED = JSON.parse(read('allowed.json'));

/** The outcomes allowed in a browser. @param {string} engine  its name @returns {Record<string, string[]>} */
export const allowedIn = (engine) => (engine === 'Chromium' ? ALLOWED.sent : ALLOWED.dropped);
