/**
 * Runs clang-tidy over batches of files. The files of one folder that are compiled with the same flags are written,
 * one after another, into one translation unit, since most of the time goes into the standard library's headers, once
 * for each unit. The path analyser skips included files, so #line makes each part the main file for it.
 */

import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join, relative } from 'node:path';
import { Failure } from './failure.js';
import { buildFolder, repository } from './paths.js';
import { read, run, tail } from './run.js';

const FOLDER = join(buildFolder, 'tidy');
const BATCH_FILES_MAX = 60;

/**
 * The limit of the path analyser within one function, a forty-fifth of its default. It reaches the default only in
 * long coroutines and in the visitors of the standard library, and would spend most of its time there.
 */
const ANALYSER = ['-Xclang', '-analyzer-config', '-Xclang', 'max-nodes=5000'].map(
    (word) => `--extra-arg=${word}`,
);

/**
 * The word by which files are grouped into units. The tests whose file names begin with the same word share a unit;
 * tests of another word may define the same names, so they need another unit. All other files share the empty word.
 * @param {string} file
 */
const wordOf = (file) => (file.includes('/tests/') ? basename(file, '.cpp').replace(/_.*/, '') : '');

/** @typedef {{ directory: string, command: string, file: string }} CompileCommand */
/** @typedef {{ name: string, files: CompileCommand[], wasm: boolean }} Batch */

/**
 * @param {import('./toolchain.js').Toolchain} tools
 * @param {string[]} databases build folders; a file that several of them compile is checked with the flags of the
 *   first
 * @param {string} log
 * @param {number} jobs
 */
export async function tidyAll(tools, databases, log, jobs) {
    const emscripten = emscriptenArgs(tools);
    const waiting = batches(databases);
    write(waiting);
    /** @type {string[]} */
    const bad = [];
    const worker = async () => {
        for (let batch = waiting.pop(); batch; batch = waiting.pop()) {
            const { name, wasm } = batch;
            const unit = unitOf(batch);
            const args = ['--quiet', '-p', FOLDER, ...ANALYSER, ...(wasm ? emscripten : []), unit];
            await run(tools.command('clang-tidy', args), log).catch(() => bad.push(name));
        }
    };
    await Promise.all(Array.from({ length: jobs }, worker));
    if (bad.length > 0) throw new Failure(`clang-tidy: ${bad.join(', ')}\n${tail(log)}`);
}

/**
 * The path of the unit of a batch. It lies in a copy of the folder of its files, since the nearest .clang-tidy above
 * it decides what is checked.
 *
 * @param {Batch} batch
 */
const unitOf = ({ name, files }) => join(folderOf(files), `${name}.cpp`);

/** @param {CompileCommand[]} files */
const folderOf = ([first]) => join(FOLDER, relative(repository, dirname(first?.file ?? '')));

/**
 * The flags of a command, without the words that differ from file to file. Where the file is compiled under another
 * name (cmake/wasm.cmake), these words end the command.
 *
 * @param {CompileCommand} command
 */
const flags = ({ command, file }) =>
    command
        .replace(/ -include \S+ -Xclang -main-file-name .*/, '')
        .split(' ')
        .filter((word, i, all) => word !== file && word !== '-c' && word !== '-o' && all[i - 1] !== '-o')
        .join(' ');

/**
 * @param {string[]} databases
 * @returns {Batch[]}
 */
function batches(databases) {
    /** @type {Map<string, Batch[]>} */
    const groups = new Map();
    const seen = new Set();
    for (const database of databases) {
        for (const one of compiled(database)) {
            if (seen.has(one.file)) continue;
            seen.add(one.file);
            const key = `${database} ${dirname(one.file)} ${wordOf(one.file)} ${flags(one)}`;
            const group = groups.get(key) ?? [];
            groups.set(key, group);
            const open = group.at(-1);
            if (open && open.files.length < BATCH_FILES_MAX) {
                open.files.push(one);
                continue;
            }
            const folder = relative(repository, dirname(one.file)).replaceAll('/', '-');
            const name = `${folder}-${basename(one.file, '.cpp')}`;
            group.push({ name, files: [one], wasm: database.includes('wasm-') });
        }
    }
    return [...groups.values()].flat();
}

/** Writes the units of all batches, and the database with the command that compiles each. @param {Batch[]} all */
function write(all) {
    rmSync(FOLDER, { recursive: true, force: true });
    const commands = all.map((batch) => {
        const unit = unitOf(batch);
        mkdirSync(dirname(unit), { recursive: true });
        const parts = batch.files.map(({ file }) => `#line 1 "${file}"\n${readFileSync(file, 'utf8')}`);
        writeFileSync(unit, parts.join(''));
        const first = /** @type {CompileCommand} */ (batch.files[0]);
        const near = `-iquote ${dirname(first.file)}`;
        return { ...first, command: `${flags(first)} ${near} -c ${unit}`, file: unit };
    });
    writeFileSync(join(FOLDER, 'compile_commands.json'), JSON.stringify(commands));
    const own = join(repository, 'tests/.clang-tidy');
    if (existsSync(join(FOLDER, 'tests'))) copyFileSync(own, join(FOLDER, 'tests/.clang-tidy'));
}

/**
 * Reads the commands of a database, without those with `-fwasm-exceptions`, which clang-tidy refuses. They compile the
 * bindings of the laboratory and of the emulator; the native build compiles all other sources of these two.
 *
 * @param {string} database
 * @returns {CompileCommand[]} one for each of our files, also if CMake compiles several files as one unit
 */
function compiled(database) {
    /** @type {CompileCommand[]} */
    const entries = JSON.parse(readFileSync(join(database, 'compile_commands.json'), 'utf8'));
    const files = entries.flatMap((entry) => (entry.file.startsWith(database) ? partsOf(entry) : entry));
    return files.filter(
        ({ file, command }) => file.startsWith(`${repository}/`) && !command.includes('-fwasm-exceptions'),
    );
}

/** @param {CompileCommand} unit */
const partsOf = ({ directory, command, file: unit }) =>
    [...readFileSync(unit, 'utf8').matchAll(/^#include "(.*)"$/gm)].map(([, file = '']) => ({
        directory,
        command: command.replaceAll(unit, file),
        file,
    }));

/**
 * The arguments that em++ adds to the command line of clang. The compile database lacks them, so em++ itself is asked
 * for them: it prints them in one line.
 * @param {import('./toolchain.js').Toolchain} tools
 */
function emscriptenArgs(tools) {
    const { file, args, env } = tools.command('em++', ['--cflags', '-fwasm-exceptions', '-pthread']);
    const words = read(file, args, env)?.split(/\s+/) ?? [];
    return words.map((word) => `--extra-arg-before=${word}`);
}
