/**
 * Tries one planted fault. It compiles the unit of the native release build that contains the faulty source into a
 * scratch folder, links the object in the place of the library's, and runs one test. It does not change the working
 * tree.
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
 * @property {string} fault  a description of what is wrong
 * @property {string} file  the path from the repository's root
 * @property {string} find  the text to replace, which the file contains exactly once
 * @property {string} replace
 * @property {string} test  the native test case that must fail
 * @property {string[]} [compiles]  the sources to compile instead of the file, if it is a header
 */

/** @typedef {'killed' | 'survived' | 'not found' | 'not built'} Fate */

export const PRESET = 'native-release';
const FOLDER = join(buildFolder, PRESET);

/**
 * A test that hangs has found the fault too. It is taken to hang once it runs TIMES_SOUND times as long as without a
 * fault, and at least TIMEOUT_MIN_S.
 */
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
 * @returns {boolean} whether the file contains the text exactly once
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
 * @typedef {object} Unit  a translation unit of the build: one source, or several that are compiled as one
 * @property {string} command
 * @property {string} output
 * @property {string} source  its text
 * @property {string} near  the folder that contains its sources
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
    throw new Error(`${path} is not compiled in ${PRESET}: name a source that includes it in "compiles"`);
}

/** @param {string} path */
const including = (path) => `#include "${path}"`;

/** @param {Mutant} mutant */
const unitsOf = ({ file, compiles = [file] }) => [
    ...new Map(compiles.map((path) => [unitOf(path).output, unitOf(path)])).values(),
];

/**
 * The commands of CMake that compile the units, without optimisation. Headers are looked up in the folder of the
 * mutant first.
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
 * The command that links the tests with the objects of the mutant first: a linker takes from a library only what no
 * object before it defines.
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
 * Runs the tests without a fault, since a test that fails anyway proves nothing. Then tries a source and a test whose
 * text is replaced by itself: they must survive, since a fault must not be killed by the way in which it is built.
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
        if (fate !== 'survived')
            throw new Failure(`“${mutant.test}” must pass without a fault, but was ${fate}; see ${log}`);
    }
    return sound;
}
