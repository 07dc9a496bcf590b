/**
 * Explores, so that the page stays alive meanwhile. To cancel is to terminate this Worker.
 *
 * In: { explore: request } or { matrix: true }. Out: { report }, { cell }, { done }, { error }.
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
