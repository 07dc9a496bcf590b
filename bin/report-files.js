/** The files of a scenario's report: JSON, the trace as text, and the diagram. */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, extname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Misuse } from './arguments.js';

/** @typedef {import('tabacus/emulator').ExploreReport} ExploreReport */

/**
 * What a report's file contains.
 *
 * @typedef {ExploreReport & { scenario: string, options: Record<string, unknown> }} Filed
 *   `scenario`: its address relative to the file; `options`: those of explore() that are data
 */

/** JSON has no infinite numbers. @param {string} _name @param {unknown} value */
const infiniteAsText = (_name, value) => (value === Infinity ? 'Infinity' : value);

/** @param {string} name @param {unknown} value */
const infiniteFromText = (name, value) => (name === 'timerWindow' && value === 'Infinity' ? Infinity : value);

/** The options of explore() that a file can keep. @param {Record<string, unknown>} options */
function dataOf({ progress: _progress, signal: _signal, wasm: _wasm, fakeIndexedDB: _peer, ...options }) {
    return Object.fromEntries(Object.entries(options).filter(([, value]) => typeof value !== 'function'));
}

/** @param {string} from a folder @param {string} to a file @returns {string} its address, relative if it can be */
function addressFrom(from, to) {
    const path = relative(from, to);
    if (isAbsolute(path)) return pathToFileURL(to).href;
    return `./${path.split(sep).map(encodeURIComponent).join('/')}`;
}

/**
 * Writes the report, and the trace and the diagram if it has them. If it has none, those of an earlier run are removed.
 *
 * @param {ExploreReport} report
 * @param {{ url: URL, options: Record<string, unknown>, out?: string, svg?: string }} of `url`: the scenario's module;
 *   `out`: the folder, by default that of the scenario; `svg`: the file of the diagram
 * @returns {string[]} the files
 */
export function writeReport(report, { url, options, out, svg }) {
    const module = fileURLToPath(url);
    const folder = out === undefined ? dirname(module) : resolve(out);
    const name = join(folder, basename(module, extname(module)));
    const filed = { scenario: addressFrom(folder, module), options: dataOf(options), ...report };
    /** @type {[file: string, text: string | undefined][]} */
    const files = [
        [`${name}.report.json`, `${JSON.stringify(filed, infiniteAsText, 4)}\n`],
        [`${name}.trace.txt`, report.trace && `${report.trace.trimEnd()}\n`],
        [svg === undefined ? `${name}.svg` : resolve(svg), report.svg],
    ];
    const written = files.filter(([, text]) => text);
    const kept = new Set(written.map(([file]) => file));
    try {
        mkdirSync(folder, { recursive: true });
        for (const [file, text] of written) writeFileSync(file, String(text));
        for (const file of [`${name}.trace.txt`, `${name}.svg`]) {
            if (!kept.has(file)) rmSync(file, { force: true });
        }
    } catch (error) {
        throw new Misuse(`the report cannot be written: ${/** @type {Error} */ (error).message}`);
    }
    return written.map(([file]) => file);
}

/**
 * Reads the file of a report.
 *
 * @param {string} file
 * @returns {{ url: URL, filed: Filed }} `url`: the scenario's module
 */
export function readReport(file) {
    /** @type {any} */
    let filed;
    try {
        filed = JSON.parse(readFileSync(file, 'utf8'), infiniteFromText);
    } catch (error) {
        throw new Misuse(`--replay ${file}: ${/** @type {Error} */ (error).message}`);
    }
    if (typeof Object(filed).scenario !== 'string' || typeof filed.verdict !== 'string')
        throw new Misuse(`--replay ${file}: this is no report of npx tabacus explore ./scenario.js`);
    if (!Array.isArray(filed.schedule))
        throw new Misuse(
            `--replay ${file}: there is no run to replay, since the verdict is "${filed.verdict}"`,
        );
    return { url: new URL(filed.scenario, pathToFileURL(resolve(file))), filed };
}
