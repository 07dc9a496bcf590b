/** Makes the toolchain's root by debootstrap: a release of Debian in a folder of the user's cache. */

import {
    existsSync,
    mkdirSync,
    readFileSync,
    readdirSync,
    renameSync,
    rmSync,
    symlinkSync,
    writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { ensure } from './apt.js';
import { inRoot } from './enter.js';
import { Failure } from './failure.js';
import { withLock } from './lock.js';
import { debianMirror } from './mirror.js';
import { cacheFolder, logFolder } from './paths.js';
import { step } from './progress.js';
import { DEBOOTSTRAP_SCRIPT, EMSCRIPTEN_MIN, LINKS, PACKAGES, RECIPE, SUITE, TOOLS } from './recipe.js';
import { command, isRoot, read, run } from './run.js';

const root = join(cacheFolder, 'toolchain');
const partial = `${root}.partial`;
const downloads = `${root}.downloads`;

/** The file that contains the hash of the recipe. It is written last, so that it marks a complete root. */
const stamp = '.tabacus-recipe';

/**
 * Returns the path of the root. Makes the root first if it is missing, incomplete, broken or of another recipe.
 *
 * @throws {Failure} if this machine cannot make one
 */
export async function toolchainRoot() {
    if (isSound()) return root;
    return withLock(`${root}.lock`, async () => {
        if (!isSound()) await make();
        return root;
    });
}

function isSound() {
    const mark = join(root, stamp);
    return existsSync(mark) && readFileSync(mark, 'utf8') === RECIPE && works(root);
}

/** @param {string} folder */
function works(folder) {
    if (!TOOLS.every((tool) => existsSync(join(folder, 'usr/bin', tool)))) return false;
    const { file, args, env } = inRoot(folder, 'emcc', ['--version'], '/');
    return emscriptenMajor(read(file, args, env)) >= EMSCRIPTEN_MIN;
}

/**
 * The major version of Emscripten, or 0 if there is none.
 *
 * @param {string | undefined} version output of `emcc --version`
 */
export const emscriptenMajor = (version) => Number(version?.match(/ (\d+)\.\d+\.\d+/)?.[1] ?? 0);

const NEEDS = [
    { name: 'debootstrap', apt: 'debootstrap', purpose: 'makes the toolchain' },
    { name: 'bwrap', apt: 'bubblewrap', purpose: 'enters the toolchain' },
];

/** Installs what making the root needs, if the root has to be made and this machine can make it. */
export async function rootNeeds() {
    if (isRoot && debianMirror() && !isSound()) await ensure(NEEDS);
}

async function make() {
    const mirror = source();
    await ensure(NEEDS);
    if (existsSync(root)) console.error(`· the toolchain in ${root} is stale or broken: it is made again`);
    console.error(`· ${beginning()}`);
    removePartial();
    mkdirSync(downloads, { recursive: true });
    await step(`toolchain: Debian ${SUITE} with Emscripten, in ${root}`, () => debootstrap(mirror));
    for (const [name, target] of Object.entries(LINKS)) symlinkSync(target, join(partial, 'usr/bin', name));
    if (!works(partial)) throw new Failure(`debootstrap made ${partial}, but its emcc does not work`);
    writeFileSync(join(partial, stamp), RECIPE);
    rmSync(root, { recursive: true, force: true });
    renameSync(partial, root);
    rmSync(downloads, { recursive: true, force: true });
}

/** Removes an incomplete root. First unmounts its /proc, which a killed debootstrap leaves mounted. */
function removePartial() {
    const points = readFileSync('/proc/self/mounts', 'utf8').matchAll(/^\S+ (\S+)/gm);
    const below = [...points].map(([, point = '']) => point);
    for (const point of below.reverse())
        if (point.startsWith(`${partial}/`)) read('umount', ['--lazy', point]);
    rmSync(partial, { recursive: true, force: true });
}

/** The line that says whether an interrupted download is resumed. */
function beginning() {
    const kept = existsSync(downloads) ? readdirSync(downloads).filter((name) => name.endsWith('.deb')) : [];
    return kept.length > 0
        ? `toolchain: resumes an interrupted download, ${kept.length} packages are here already`
        : 'toolchain: starts from the beginning, about 360 MB to download';
}

/** The mirror to make a root from. @throws {Failure} if this machine cannot make one */
function source() {
    const mirror = debianMirror();
    if (isRoot && mirror) return mirror;
    const why = isRoot ? "this machine's apt has no Debian mirror" : 'making one here needs root';
    throw new Failure(
        `no Emscripten ${EMSCRIPTEN_MIN} or newer: the PATH has none, and ${why}. ` +
            'Install emsdk (emsdk install latest, emsdk activate latest, source emsdk_env.sh).',
    );
}

/** @param {string} mirror */
async function debootstrap(mirror) {
    const log = join(logFolder, 'toolchain.log');
    rmSync(log, { force: true });
    const options = ['--variant=minbase', `--cache-dir=${downloads}`, `--include=${PACKAGES.join(',')}`];
    await run(command('debootstrap', [...options, SUITE, partial, mirror, DEBOOTSTRAP_SCRIPT]), log);
    rmSync(join(partial, 'var/cache/apt/archives'), { recursive: true, force: true });
    mkdirSync(join(partial, 'var/cache/apt/archives/partial'), { recursive: true });
}
