/**
 * Processes of the machine. Each browser is started in a process group of its own, so that one signal ends all its
 * processes, and /proc shows the process of a tab.
 */

import { spawn } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** @typedef {import('node:child_process').ChildProcess} ChildProcess */

/** The last processes of a killed browser may still write while its folder is removed. */
const REMOVAL = Object.freeze({ recursive: true, force: true, maxRetries: 10 });

/** The process groups that are killed when this process ends. @type {Set<number>} */
const groups = new Set();

/** The folders that are removed when this process ends. @type {Set<string>} */
const folders = new Set();

process.on('exit', () => {
    for (const group of groups) signalGroup(group, 'SIGKILL');
    for (const path of folders) rmSync(path, REMOVAL);
});
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
    process.once(signal, () => process.exit(1));
}

/**
 * Starts a program as the leader of a new process group.
 *
 * @param {string} file
 * @param {string[]} args
 * @param {import('node:child_process').SpawnOptions} [options]
 * @returns {ChildProcess}
 */
export function startGroup(file, args, options = {}) {
    const child = spawn(file, args, { stdio: 'ignore', ...options, detached: true });
    if (child.pid) groups.add(child.pid);
    return child;
}

/**
 * Sends SIGKILL to the whole group. Resolves when its leader has ended.
 *
 * @param {ChildProcess} child
 */
export async function killGroup(child) {
    if (!child.pid) return;
    const { pid } = child;
    const gone = ended(child);
    signalGroup(pid, 'SIGKILL');
    await gone;
    groups.delete(pid);
}

/**
 * @param {ChildProcess} child
 * @returns {Promise<void>}
 */
export function ended(child) {
    if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
    return new Promise((resolve) => child.once('exit', () => resolve()));
}

/**
 * @param {number} group
 * @param {NodeJS.Signals} signal
 */
function signalGroup(group, signal) {
    try {
        process.kill(-group, signal);
    } catch {
        // ESRCH: all processes of the group have ended.
    }
}

/**
 * Makes a folder for the time of a test, such as the profile of a browser.
 *
 * @returns {Promise<{ path: string, remove: () => Promise<void> }>}
 */
export async function temporaryFolder() {
    const path = await mkdtemp(join(tmpdir(), 'tabacus-browser-'));
    folders.add(path);
    const remove = async () => {
        await rm(path, REMOVAL);
        folders.delete(path);
    };
    return { path, remove };
}

/**
 * @typedef {object} ProcessInfo
 * @property {number} pid
 * @property {number} parent
 * @property {string} command  the command line, its arguments joined by spaces
 */

/** @returns {ProcessInfo[]} */
function processes() {
    return readdirSync('/proc').flatMap((name) => {
        const pid = Number(name);
        return Number.isInteger(pid) ? describe(pid) : [];
    });
}

/**
 * @param {number} pid
 * @returns {ProcessInfo[]} an empty list if the process has ended meanwhile
 */
function describe(pid) {
    try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        // proc(5): "pid (comm) state ppid …", where comm may contain any character, also brackets.
        const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
        const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
        return [{ pid, parent, command }];
    } catch {
        return [];
    }
}

/**
 * All processes that a process has started, directly or not.
 *
 * @param {number} ancestor
 * @returns {ProcessInfo[]}
 */
export function descendants(ancestor) {
    const all = processes();
    const family = new Set([ancestor]);
    for (let before = 0; before !== family.size;) {
        before = family.size;
        for (const { pid, parent } of all) if (family.has(parent)) family.add(pid);
    }
    return all.filter(({ pid }) => pid !== ancestor && family.has(pid));
}

/**
 * Sends SIGKILL to a process and to all that it has started. Use it for processes that do not stay in one group.
 *
 * @param {number} pid
 */
export function killTree(pid) {
    for (const victim of [pid, ...descendants(pid).map((found) => found.pid)]) {
        try {
            process.kill(victim, 'SIGKILL');
        } catch {
            // ESRCH: the process has ended meanwhile.
        }
    }
}

/**
 * The number of threads of a process with this name.
 *
 * @param {number} pid
 * @param {RegExp} name
 * @returns {number}
 */
export function countThreads(pid, name) {
    try {
        const tasks = readdirSync(`/proc/${pid}/task`);
        return tasks.filter((task) => name.test(threadName(pid, task))).length;
    } catch {
        return 0;
    }
}

/**
 * @param {number} pid
 * @param {string} task
 */
function threadName(pid, task) {
    try {
        return readFileSync(`/proc/${pid}/task/${task}/comm`, 'utf8');
    } catch {
        return '';
    }
}

/**
 * Whether a process exists and is no zombie.
 *
 * @param {number} pid
 */
export function isAlive(pid) {
    try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        return !['Z', 'X'].includes(stat.charAt(stat.lastIndexOf(')') + 2));
    } catch {
        return false;
    }
}
