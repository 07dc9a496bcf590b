/** Finds PostgreSQL on Debian, which has a folder for each version, even if only the client is installed. */

import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

const VERSIONS = '/usr/lib/postgresql';

/** @returns {string | undefined} the folder of the newest server's programs */
export function postgresFolder() {
    if (!existsSync(VERSIONS)) return undefined;
    return readdirSync(VERSIONS)
        .sort((a, b) => Number(b) - Number(a))
        .map((version) => join(VERSIONS, version, 'bin'))
        .find((folder) => existsSync(join(folder, 'initdb')));
}
