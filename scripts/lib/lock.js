/**
 * A lock over processes: two builds in one folder, or two processes that make one toolchain, would spoil it. The lock
 * is the kernel's (`flock`). A child process holds it until its pipe from this process closes. So if this process is
 * killed, the lock is released, and no lock is ever stale.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { Failure } from './failure.js';

const NOTICE_AFTER_ms = 2000;

/**
 * Runs a function while this process holds the lock.
 *
 * @template T
 * @param {string} path the lock file
 * @param {() => T | Promise<T>} body
 * @returns {Promise<T>}
 * @throws {Failure} if the lock cannot be acquired
 */
export async function withLock(path, body) {
    mkdirSync(dirname(path), { recursive: true });
    const holder = spawn('flock', [path, 'sh', '-c', 'echo held; exec cat'], {
        stdio: ['pipe', 'pipe', 'inherit'],
    });
    const notice = setTimeout(() => console.error(`· waiting for another process: ${path}`), NOTICE_AFTER_ms);
    const held = once(holder.stdout, 'data').then(() => true);
    const failed = once(holder, 'exit').then(
        () => false,
        () => false,
    );
    const acquired = await Promise.race([held, failed]);
    clearTimeout(notice);
    if (!acquired) throw new Failure(`no lock on ${path}: flock (package util-linux) is missing or failed`);
    try {
        return await body();
    } finally {
        holder.stdin.end();
    }
}
