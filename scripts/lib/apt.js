/** The packages of the system that a step needs: finds them, and installs them or names each that is missing. */

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Failure } from './failure.js';
import { logFolder } from './paths.js';
import { step } from './progress.js';
import { command, has, isRoot, run } from './run.js';

/**
 * @typedef {object} Need
 * @property {string} name a command, or the path of a file; with `isMet`, any name
 * @property {() => boolean} [isMet] whether it is installed, if no command and no file shows that
 * @property {string} apt the package of Debian that contains it
 * @property {string} purpose what it is for, as a clause that completes "… is missing: it …"
 */

/** @param {Need} need */
const met = ({ name, isMet }) => (isMet ? isMet() : name.startsWith('/') ? existsSync(name) : has(name));

/** @param {Need[]} needs */
export const unmet = (needs) => needs.filter((need) => !met(need));

export const canInstall = () => isRoot && has('apt-get');

/**
 * Installs what is missing, if this process may install packages.
 * @param {Need[]} needs
 * @throws {Failure} that names each need that is still missing, and how to install it
 */
export async function ensure(needs) {
    const missing = unmet(needs);
    if (missing.length === 0) return;
    if (canInstall()) await install([...new Set(missing.map(({ apt }) => apt))]);
    const still = unmet(needs);
    if (still.length > 0) throw new Failure(still.map(advice).join('\n  '));
}

/** @param {Need} need */
const advice = ({ name, apt, purpose }) =>
    `${name} is missing: it ${purpose}. Install it (Debian, Ubuntu: apt-get install ${apt}).`;

/** @param {string[]} packages */
async function install(packages) {
    const log = join(logFolder, 'apt.log');
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    await step(`apt-get install ${packages.join(' ')}`, async () => {
        await run(command('apt-get', ['update'], { env }), log);
        const options = ['-y', '--no-install-recommends', '-o', 'DPkg::Lock::Timeout=120'];
        await run(command('apt-get', ['install', ...options, ...packages], { env }), log);
    });
}
