/**
 * Builds a package that stands for a later version of this one: the same program, which writes its records in format 2,
 * and reads the formats 1 and 2.
 */

import {
    cpSync,
    mkdirSync,
    readFileSync,
    rmSync,
    statSync,
    symlinkSync,
    utimesSync,
    writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.js';
import { buildFolder, logFolder, repository } from './paths.js';
import { step } from './progress.js';
import { command, run } from './run.js';
import { patchSource } from './source-patch.js';

const folder = join(buildFolder, 'later-version');

/** What the build of the package reads. */
const PARTS = ['CMakeLists.txt', 'CMakePresets.json', 'package.json', 'package-lock.json'];
const FOLDERS = ['bridge', 'cmake', 'js', 'scripts', 'wasm'];

/** The file with the version of records, and its definition. */
const FILE = 'wasm/src/protocol/common/record.hpp';
const PRESENT = 'record_start = "1;";';
const RAISED = 'record_start = "2;";';

/** Copies the sources with their times, so that a second build compiles only what has changed. */
function copySources() {
    for (const part of [...PARTS, ...FOLDERS, 'node_modules'])
        rmSync(join(folder, part), { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    const options = { recursive: true, preserveTimestamps: true };
    for (const part of [...PARTS, ...FOLDERS]) cpSync(join(repository, part), join(folder, part), options);
    symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'));
    // No test of the later version loads the program in shared memory, so it is that of this version.
    for (const file of ['threads.js', 'threads.wasm'])
        cpSync(join(buildFolder, 'wasm-threads', file), join(folder, 'build/wasm-threads', file), options);
}

/** @throws {Failure} if the version of records is not defined exactly once */
function raiseRecordVersion() {
    const path = join(folder, FILE);
    const raised = patchSource(readFileSync(path, 'utf8'), PRESENT, RAISED);
    if (raised === undefined) throw new Failure(`${FILE} must contain this text exactly once: ${PRESENT}`);
    const { atime, mtime } = statSync(path);
    writeFileSync(path, raised);
    utimesSync(path, atime, mtime);
}

/**
 * Builds the package from a copy of the sources, by the ordinary scripts.
 *
 * @returns {Promise<string>} the path of the package
 */
export async function buildLaterVersion() {
    await step('build the later version', async () => {
        copySources();
        raiseRecordVersion();
        const log = join(logFolder, 'later-version.log');
        rmSync(log, { force: true });
        const build = command(process.execPath, ['scripts/build.js', 'wasm-single', 'js'], { cwd: folder });
        await run(build, log);
    });
    return folder;
}
