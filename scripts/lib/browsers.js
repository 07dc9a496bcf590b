/** What the browser tests need of the system: finds it, and installs it or names what is missing. */

import { canInstall, ensure, unmet } from './apt.js';
import { postgresFolder } from './postgres.js';

/** The browsers by their names on Debian. The test harness also looks for the names that other systems give them. */
export const NEEDS = [
    { name: 'chromium', apt: 'chromium', purpose: 'runs the browser tests' },
    { name: 'firefox-esr', apt: 'firefox-esr', purpose: 'runs the browser tests in Gecko' },
    {
        name: 'WebKitWebDriver',
        apt: 'webkit2gtk-driver',
        purpose: 'runs the browser tests in WebKit',
    },
    { name: 'Xvfb', apt: 'xvfb', purpose: 'is the screen of the WebKit tests' },
    { name: 'xauth', apt: 'xauth', purpose: 'lets Xvfb start' },
    {
        name: 'PostgreSQL',
        isMet: () => postgresFolder() !== undefined,
        apt: 'postgresql',
        purpose: 'is the server over which two browsers carry counters',
    },
];

/** Installs the browsers. Where one cannot be installed, a line says so, its tests are skipped, and the others run. */
export async function browsers() {
    if (canInstall()) return ensure(NEEDS);
    for (const { name, apt, purpose } of unmet(NEEDS))
        console.error(`! ${name} is missing: it ${purpose}. Install it (Debian: apt-get install ${apt}).`);
}
