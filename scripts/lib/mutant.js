/**
 * A planted fault: one native source compiled with it into a scratch folder, linked before the
 * library whose object it stands in for, and one test run. The working tree is only read.
 */

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { buildFolder, repository } from './paths.js';
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

const PRESET = join(buildFolder, 'native-debug');

/** A test that hangs has seen the fault too; sound, each takes a few seconds. */
const PATIENCE_S = 30;

/** @param {string} word */
const quoted = (word) => `'${word.replaceAll("'", `'\\''`)}'`;

/** Catch2 reads commas and brackets in a test's name as operators. @param {string} name */
const spec = (name) => name.replace(/[,[\]\\"]/g, '\\$&');

/**
 * @param {string} script  for the shell, in the build folder of native-debug
 * @param {string} log
 */
async function inBuild(script, log) {
    const tools = await toolchain();
    await run(tools.command('sh', ['-c', `cd ${quoted(PRESET)} && ${script}`]), log);
}

/**
 * The named tests without any fault: what fails then, kills nothing.
 *
 * @param {Mutant[]} mutants
 * @param {string} log
 */
export async function control(mutants, log) {
    for (const test of new Set(mutants.map((mutant) => mutant.test))) {
        await inBuild(`./tabacus_tests ${quoted(spec(test))}`, log);
    }
}

/**
 * @param {string} folder  of the mutant
 * @param {Mutant} mutant
 * @returns {boolean} whether the text is there, exactly once
 */
function plant(folder, { file, find, replace }) {
    const source = readFileSync(join(repository, file), 'utf8');
    if (source.split(find).length !== 2) return false;
    const path = join(folder, file);
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, source.replace(find, () => replace));
    return true;
}

/** @typedef {{ file: string, command: string, output: string }} CompileCommand */

/**
 * CMake's own commands, with the folder of the mutant looked through first.
 *
 * @param {string} folder
 * @param {Mutant} mutant
 */
function compileScript(folder, { file, compiles = [file] }) {
    /** @type {CompileCommand[]} */
    const known = JSON.parse(readFileSync(join(PRESET, 'compile_commands.json'), 'utf8'));
    return compiles.map((path, i) => {
        const found = known.find((one) => one.file === join(repository, path));
        if (!found) throw new Error(`${path} is not compiled in native-debug`);
        const [command = ''] = found.command.split(' -o ');
        const source = join(path === file ? folder : repository, path);
        const near = ['wasm/include', 'wasm/src'].map((at) => `-I${join(folder, at)}`).join(' ');
        return `${command.replace(' ', ` ${near} `)} -Wno-error -g0 -iquote ${dirname(found.file)} -o ${folder}/${i}.o -c ${source}`;
    });
}

/**
 * The link of the tests, the mutant's objects first: a linker takes from a library only what no
 * object has defined before.
 *
 * @param {string} folder
 * @param {Mutant} mutant
 */
function linkScript(folder, { file, compiles = [file] }) {
    const objects = compiles.map((_, i) => `${folder}/${i}.o`).join(' ');
    const stands = compiles.map((path) => `-e ${quoted(`s# [^ ]*/${path}\\.o# #`)}`).join(' ');
    return `ninja -t commands tabacus_tests | tail -n 1 | sed ${stands} \
        -e ${quoted(`s# -o tabacus_tests # -o ${folder}/tests #`)} \
        -e ${quoted(`s#clang++ #clang++ ${objects} #`)} -e ${quoted('s#--dependency-file=[^ ]*#-O0#')} > ${folder}/link.sh && sh ${folder}/link.sh`;
}

/**
 * @param {Mutant} mutant
 * @param {string} log
 * @returns {Promise<Fate>}
 */
export async function tryMutant(mutant, log) {
    const folder = join(buildFolder, 'mutation', mutant.name);
    if (!plant(folder, mutant)) return 'not found';
    try {
        await inBuild([...compileScript(folder, mutant), linkScript(folder, mutant)].join(' && '), log);
    } catch {
        return 'not built';
    }
    try {
        const limited = `timeout -k 1 ${PATIENCE_S} ${folder}/tests`;
        await inBuild(`${limited} --abort ${quoted(spec(mutant.test))}`, log);
        return 'survived';
    } catch {
        return 'killed';
    } finally {
        rmSync(folder, { recursive: true, force: true });
    }
}
