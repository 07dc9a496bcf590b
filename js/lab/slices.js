/** Runs long explorations in slices, so that a page stays responsive and can cancel them. */

import { reportFrom } from './lab-module.js';

/** The length of a slice, during which the page does not respond: less than a person notices. */
const slice_ms = 40;

/** The number of runs between two reads of the clock. */
const runs = 50;

const turn = () => new Promise((resolve) => setTimeout(resolve, 0));

/** @typedef {import('./lab.js').Exploration | import('./lab.js').CellExploration} Exploration */

/**
 * Explores to the end, and frees the exploration.
 *
 * @param {Exploration} exploration
 * @param {object} options
 * @param {AbortSignal | undefined} options.signal rejects with its reason
 * @param {((report: any) => void) | undefined} options.progress called after each slice
 * @returns {Promise<any>} the report
 */
export async function inSlices(exploration, { signal, progress }) {
    try {
        for (;;) {
            signal?.throwIfAborted();
            if (!slice(exploration)) return reportFrom(exploration.report());
            progress?.(reportFrom(exploration.report()));
            await turn();
        }
    } finally {
        exploration.delete();
    }
}

/**
 * Explores for one slice.
 *
 * @param {Exploration} exploration
 * @returns {boolean} false if the exploration has ended
 */
function slice(exploration) {
    const end = performance.now() + slice_ms;
    do {
        if (!exploration.explore(runs)) return false;
    } while (performance.now() < end);
    return true;
}
