/** The packages whose tabs a soak runs: this one, or this one beside an earlier or a later version. */

import { DIST, LATER } from '../browser/harness/site.js';
import { unpackVersion } from '../versions/unpack-version.js';
import { TIMEOUTS } from './page/timeouts.js';

/**
 * @typedef {object} Packages
 * @property {string[]} addresses  of their modules, the oldest version first. The first tab is of the last one, and reads
 *   everything at the end
 * @property {Record<string, string | URL>} mounts  what the server serves for them
 * @property {boolean} isolated  whether the pages are isolated
 * @property {object} options  of `open()`, which all of them know
 * @property {boolean} refuses  whether calls of all but the last one may fail with `version-mismatch`
 * @property {string[]} lacks  what one of them does not have: kinds of operations, and options by the names `<kind>.<option>`
 */

const PRESENT_ADDRESS = '/dist/web/tabacus.js';
const PRESENT_MOUNTS = { '/dist': DIST };

/** @type {Packages} */
export const PRESENT = {
    addresses: [PRESENT_ADDRESS],
    mounts: PRESENT_MOUNTS,
    isolated: true,
    options: { timeouts: TIMEOUTS },
    refuses: false,
    lacks: [],
};

/**
 * Version 0.1.0 beside this one. On an isolated page it would share memory, by a separate program.
 *
 * @returns {Packages}
 */
export const besideEarlier = () => ({
    addresses: ['/earlier/dist/web/tabacus.js', PRESENT_ADDRESS],
    mounts: {
        ...PRESENT_MOUNTS,
        '/earlier': unpackVersion(new URL('../versions/tabacus-0.1.0.tgz', import.meta.url)),
    },
    isolated: false,
    options: {},
    refuses: false,
    lacks: ['forget', 'enqueue.timeout', 'lock.evictUnresponsive'],
});

/** This version beside the later one that `npm run proof` builds. @returns {Packages | undefined} */
export const besideLater = () =>
    LATER
        ? {
              addresses: [PRESENT_ADDRESS, '/later/dist/web/tabacus.js'],
              mounts: { ...PRESENT_MOUNTS, '/later': LATER },
              isolated: false,
              options: { timeouts: TIMEOUTS },
              refuses: true,
              lacks: [],
          }
        : undefined;
