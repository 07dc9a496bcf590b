/** A PostgreSQL server for one suite, from the packages of Debian, on a socket in a folder of its own. */

import { spawn, spawnSync } from 'node:child_process';
import { chown } from 'node:fs/promises';
import { join } from 'node:path';

import { postgresFolder } from '../../../scripts/lib/postgres.js';
import { killGroup, startGroup, temporaryFolder } from './processes.js';
import { until } from './waiting.js';

const programs = postgresFolder() ?? '';

/** The reason why PostgreSQL cannot be tested on this machine, or undefined if it can. */
export const missing = programs
    ? undefined
    : 'PostgreSQL is not installed (Debian: apt-get install postgresql)';

/** The user that the server runs as. PostgreSQL refuses to run as root, and its package has a user for it. */
function user() {
    if (process.getuid?.() !== 0) return {};
    const of = (/** @type {string} */ flag) =>
        Number(spawnSync('id', [flag, 'postgres'], { encoding: 'utf8' }).stdout);
    return { uid: of('-u'), gid: of('-g') };
}

export async function startPostgres() {
    const folder = await temporaryFolder();
    const as = user();
    if (as.uid !== undefined) await chown(folder.path, as.uid, as.gid);
    const data = join(folder.path, 'data');
    const options = { ...as, cwd: folder.path, env: { ...process.env, LC_ALL: 'C.UTF-8' } };
    const made = spawnSync(
        join(programs, 'initdb'),
        ['-D', data, '-A', 'trust', '-U', 'postgres', '--no-sync'],
        { ...options, encoding: 'utf8' },
    );
    if (made.status !== 0) throw new Error(`initdb failed: ${made.stderr}`);
    const settings = ['listen_addresses=', `unix_socket_directories=${folder.path}`, 'fsync=off'].flatMap(
        (one) => ['-c', one],
    );
    const server = startGroup(join(programs, 'postgres'), ['-D', data, ...settings], options);

    /**
     * @param {string} sql with psql's variables
     * @param {Record<string, string>} [variables]
     * @returns {Promise<string>} the selected values
     */
    const query = (sql, variables = {}) =>
        new Promise((resolve, reject) => {
            const assignments = Object.entries(variables).flatMap(([name, value]) => [
                '-v',
                `${name}=${value}`,
            ]);
            const client = spawn(
                'psql',
                ['-h', folder.path, '-U', 'postgres', '-XqtA', '-v', 'ON_ERROR_STOP=1', ...assignments],
                { cwd: '/' },
            );
            let out = '';
            let error = '';
            client.stdout.on('data', (text) => (out += text));
            client.stderr.on('data', (text) => (error += text));
            client.on('error', reject);
            client.on('close', (code) =>
                code === 0 ? resolve(out.trim()) : reject(new Error(`psql failed: ${error}`)),
            );
            client.stdin.end(sql);
        });
    await until(() => query('SELECT 1;').catch(() => ''), 'PostgreSQL');
    return {
        query,
        close: async () => {
            await killGroup(server);
            await folder.remove();
        },
    };
}
