/** What the browser tests need: found, installed where we may, or named as missing. */

import { canInstall, ensure, unmet } from './apt.js';
import { postgresFolder } from './postgres.js';

/** Names under which other systems have the same browsers are the test harness's to look for. */
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

/** Where one cannot be installed, its tests are skipped, loudly, and the others still run. */
export async function browsers() {
    if (canInstall()) return ensure(NEEDS);
    for (const { name, apt, purpose } of unmet(NEEDS))
        console.error(`! ${name} is missing: it ${purpose}. Install it (Debian: apt-get install ${apt}).`);
}
