/**
 * One at a time over processes: two builds in one folder, or two makers of one toolchain, would
 * spoil it. The lock is the kernel's (`flock`), held by a child that lives no longer than its pipe
 * from us, so that a killed owner lets go and no lock is ever stale.
 */

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { Failure } from './failure.js';

const NOTICE_AFTER_ms = 2000;

/**
 * @template T
 * @param {string} path The lock file.
 * @param {() => T | Promise<T>} body
 * @returns {Promise<T>}
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
