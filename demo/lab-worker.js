/**
 * Explores in a Worker, so that the page stays responsive. Terminating this Worker cancels the exploration.
 *
 * It receives { explore: request } or { matrix: true }, and sends { report }, { cell }, { done } and { error }.
 */

import { explore, matrix } from './package-lab.js';

addEventListener('message', async ({ data }) => {
    try {
        if (data.explore) {
            const progress = (/** @type {object} */ report) => postMessage({ report });
            postMessage({ report: await explore(data.explore, { progress }) });
        } else {
            for await (const cell of matrix({ work: 5_000, seeds: 20 })) postMessage({ cell });
        }
        postMessage({ done: true });
    } catch (error) {
        postMessage({ error: error instanceof Error ? error.message : String(error) });
    }
});
