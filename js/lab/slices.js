/** Long explorations, a slice at a time, so that a page stays alive and can cancel. */

/** How long one slice may keep everybody else waiting, in milliseconds: less than a person notices. */
const slice_ms = 40;

/** Runs between two looks at the clock. */
const runs = 50;

const turn = () => new Promise((resolve) => setTimeout(resolve, 0));

/**
 * @param {import('./lab-module.js').Steps} steps
 * @param {object} options
 * @param {AbortSignal | undefined} options.signal rejects with its reason
 * @param {((report: any) => void) | undefined} options.progress called after each slice
 * @returns {Promise<any>} the report
 */
export async function inSlices(steps, { signal, progress }) {
    try {
        for (;;) {
            signal?.throwIfAborted();
            if (!slice(steps)) return steps.report();
            progress?.(steps.report());
            await turn();
        }
    } finally {
        steps.end();
    }
}

/** @param {import('./lab-module.js').Steps} steps */
function slice(steps) {
    const end = performance.now() + slice_ms;
    do {
        if (!steps.explore(runs)) return false;
    } while (performance.now() < end);
    return true;
}
