/**
 * A planted fault: the unit of the native release build that has the source compiled with it into a
 * scratch folder, linked before the library whose object it stands in for, and one test run. The working
 * tree is only read.
 */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Failure } from './failure.js';
import { buildFolder, repository } from './paths.js';
import { patchSource } from './source-patch.js';
import { run } from './run.js';
import { toolchain } from './toolchain.js';

/**
 * @typedef {object} Mutant
 * @property {string} name
 * @property {string} fault  what is wrong with it, in words
 * @property {string} file  from the repository's root
 * @property {string} find  exactly once in the file
 * @property {string} replace
 * @property {string} test  the native test case that must fail
 * @property {string[]} [compiles]  what to compile with it, if not the file itself: for a header
 */

/** @typedef {'killed' | 'survived' | 'not found' | 'not built'} Fate */

export const PRESET = 'native-release';
const FOLDER = join(buildFolder, PRESET);

/** A test that hangs has seen the fault too: one that takes as many times as long as without a fault, and longer than that. */
const TIMES_SOUND = 10;
const TIMEOUT_MIN_S = 30;

/** @param {string} word */
const quoted = (word) => `'${word.replaceAll("'", `'\\''`)}'`;

/** Catch2 reads commas and brackets in a test's name as operators. @param {string} name */
const spec = (name) => name.replace(/[,[\]\\"]/g, '\\$&');

/**
 * @param {string} script  for the shell, in the build folder
 * @param {string} log
 */
async function inBuild(script, log) {
    const tools = await toolchain();
    await run(tools.command('sh', ['-c', `cd ${quoted(FOLDER)} && ${script}`]), log);
}

/**
 * @param {string} folder  of the mutant
 * @param {Mutant} mutant
 * @returns {boolean} whether the text is there, exactly once
 */
function plant(folder, { file, find, replace }) {
    const source = readFileSync(join(repository, file), 'utf8');
    const faulty = patchSource(source, find, replace);
    if (faulty === undefined) return false;
    const path = join(folder, file);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, faulty);
    return true;
}

/**
 * @typedef {object} Unit  of the build: one source, or several that are compiled as one
 * @property {string} command
 * @property {string} output
 * @property {string} source  its text
 * @property {string} near  the folder of its sources
 */

/** @param {string} path  @returns {Unit} */
function unitOf(path) {
    /** @type {{ file: string, command: string, output: string }[]} */
    const known = JSON.parse(readFileSync(join(FOLDER, 'compile_commands.json'), 'utf8'));
    const file = join(repository, path);
    for (const { file: unit, command, output } of known) {
        const source = unit === file ? including(file) : readFileSync(unit, 'utf8');
        if (source.includes(including(file))) return { command, output, source, near: dirname(file) };
    }
    throw new Error(`${path} is not compiled in ${PRESET}`);
}

/** @param {string} path */
const including = (path) => `#include "${path}"`;

/** @param {Mutant} mutant */
const unitsOf = ({ file, compiles = [file] }) => [
    ...new Map(compiles.map((path) => [unitOf(path).output, unitOf(path)])).values(),
];

/**
 * CMake's own commands, unoptimised, with the folder of the mutant looked through first.
 *
 * @param {string} folder
 * @param {Mutant} mutant
 */
function compileScript(folder, mutant) {
    const sound = including(join(repository, mutant.file));
    const faulty = including(join(folder, mutant.file));
    return unitsOf(mutant).map(({ command, source, near }, i) => {
        const [words = ''] = command.split(' -o ');
        const unit = join(folder, `${i}.cpp`);
        writeFileSync(unit, source.replace(sound, faulty));
        const first = ['wasm/include', 'wasm/src'].map((at) => `-I${join(folder, at)}`).join(' ');
        return `${words.replace(' ', ` ${first} `)} -O0 -Wno-error -iquote ${near} -o ${folder}/${i}.o -c ${unit}`;
    });
}

/**
 * The link of the tests, the mutant's objects first: a linker takes from a library only what no
 * object has defined before.
 *
 * @param {string} folder
 * @param {Mutant} mutant
 */
function linkScript(folder, mutant) {
    const units = unitsOf(mutant);
    const objects = units.map((_, i) => `${folder}/${i}.o`).join(' ');
    const stands = units.map(({ output }) => `-e ${quoted(`s# [^ ]*/${basename(output)} # #`)}`).join(' ');
    return `ninja -t commands tabacus_tests | tail -n 1 | sed ${stands} \
        -e ${quoted(`s# -o tabacus_tests # -o ${folder}/tests #`)} \
        -e ${quoted(`s#clang++ #clang++ ${objects} #`)} -e ${quoted('s#--dependency-file=[^ ]*#-O0#')} > ${folder}/link.sh && sh ${folder}/link.sh`;
}

/**
 * @param {Mutant} mutant
 * @param {string} log
 * @param {number} sound_s  how long its test takes without a fault, in seconds
 * @returns {Promise<Fate>}
 */
export async function tryMutant(mutant, log, sound_s) {
    const folder = join(buildFolder, 'mutation', mutant.name);
    if (!plant(folder, mutant)) return 'not found';
    try {
        await inBuild([...compileScript(folder, mutant), linkScript(folder, mutant)].join(' && '), log);
    } catch {
        return 'not built';
    }
    try {
        const timeout_s = Math.max(TIMEOUT_MIN_S, Math.ceil(TIMES_SOUND * sound_s));
        const limited = `timeout -k 1 ${timeout_s} ${folder}/tests`;
        await inBuild(`${limited} --abort ${quoted(spec(mutant.test))}`, log);
        return 'survived';
    } catch {
        return 'killed';
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
}

/**
 * The named tests without any fault: what fails then, kills nothing. And a source and a test put in their own
 * places: whatever a fault is, it must not be killed by how it was built.
 *
 * @param {Mutant[]} mutants
 * @param {string} log
 * @returns {Promise<Map<string, number>>} how long each test takes, in seconds
 */
export async function control(mutants, log) {
    /** @type {Map<string, number>} */
    const sound = new Map();
    for (const { test } of mutants) {
        if (sound.has(test)) continue;
        const began_ms = performance.now();
        await inBuild(`./tabacus_tests ${quoted(spec(test))}`, log);
        sound.set(test, (performance.now() - began_ms) / 1000);
    }
    for (const mutant of [
        mutants.find(({ compiles }) => compiles),
        mutants.find(({ compiles }) => !compiles),
    ]) {
        if (!mutant) continue;
        const fate = await tryMutant(
            { ...mutant, name: 'sound', replace: mutant.find },
            log,
            sound.get(mutant.test) ?? 0,
        );
        if (fate !== 'survived') throw new Failure(`“${mutant.test}” without a fault: ${fate} (${log})`);
    }
    return sound;
}
