/**
 * Runs a command inside the toolchain's root. The repository, the user's cache and /tmp are bound at their own paths,
 * so that a path means the same inside and outside.
 */

import { mkdirSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from './failure.js';
import { cacheFolder, repository } from './paths.js';
import { command, has, isRoot, read } from './run.js';

/**
 * The folder of Emscripten's system libraries. Building them takes about 100 s, so all roots and clones of a user
 * share them.
 */
export const emscriptenCache = join(cacheFolder, 'emscripten');

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/**
 * The environment inside the root: only the variables on which a build may depend. NODE_EXTRA_CA_CERTS, for example,
 * names a file outside of the root; each Node that Emscripten starts would warn of it.
 */
function environment() {
    const kept = Object.entries(process.env).filter(([name]) =>
        /^(CI|TERM|NO_COLOR|TABACUS_.*|CTEST_.*|[A-Z]+SAN_OPTIONS)$/.test(name),
    );
    const own = {
        PATH,
        HOME: homedir(),
        LANG: 'C.UTF-8',
        TMPDIR: tmpdir(),
        EM_CACHE: emscriptenCache,
    };
    return { ...Object.fromEntries(kept), ...own };
}

const boundFolders = () => [...new Set([tmpdir(), cacheFolder, repository])];

/**
 * @param {string} root
 * @param {string} file
 * @param {string[]} args
 * @param {string} cwd
 */
function bwrapArgs(root, file, args, cwd) {
    const binds = boundFolders().flatMap((folder) => ['--bind', folder, folder]);
    const system = ['--bind', root, '/', '--dev', '/dev', '--proc', '/proc'];
    return [...system, ...binds, '--die-with-parent', '--chdir', cwd, file, ...args];
}

/** @param {string[]} words */
const quoted = (words) => words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');

/**
 * The arguments of `unshare` for a chroot in a mount namespace of its own, so that its mounts end with the command.
 * @param {string} root
 * @param {string} file
 * @param {string[]} args
 * @param {string} cwd
 */
function chrootArgs(root, file, args, cwd) {
    const bind = 'mkdir -p "$root$folder" && mount --rbind "$folder" "$root$folder"';
    const script = `root=$1 cwd=$2; shift 2
        for folder in ${quoted(['/proc', '/dev', ...boundFolders()])}
        do ${bind} || exit 125; done
        exec chroot "$root" sh -c 'cd "$1" && shift && exec "$@"' sh "$cwd" "$@"`;
    return ['--mount', '--propagation', 'private', 'sh', '-c', script, 'sh', root, cwd, file, ...args];
}

/** The tool that enters the root on this machine, once it is found. @type {'bwrap' | 'chroot' | undefined} */
let way;

/** @param {string} root */
function findWay(root) {
    if (has('bwrap') && read('bwrap', bwrapArgs(root, 'true', [], '/'), environment()) !== undefined)
        return 'bwrap';
    if (isRoot && read('unshare', chrootArgs(root, 'true', [], '/'), environment()) !== undefined)
        return 'chroot';
    throw new Failure(
        `cannot enter ${root}: neither bwrap nor, as root, unshare works here; install bubblewrap`,
    );
}

/**
 * @param {string} root
 * @param {string} file
 * @param {string[]} args
 * @param {string} [cwd]
 */
export function inRoot(root, file, args, cwd = repository) {
    mkdirSync(emscriptenCache, { recursive: true });
    way ??= findWay(root);
    const options = { env: environment(), name: file };
    return way === 'bwrap'
        ? command('bwrap', bwrapArgs(root, file, args, cwd), options)
        : command('unshare', chrootArgs(root, file, args, cwd), options);
}
