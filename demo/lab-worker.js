/**
 * Explores, so that the page stays alive meanwhile. To cancel is to terminate this Worker.
 *
 * In: { explore: request } or { matrix: true }. Out: { report }, { cell }, { done }, { error }.
 */

import { explore, matrix } from './package-lab.js';

/**
 * What happens without a fault happens with any, also where so small a bound did not come across it again.
 *
 * @param {AsyncIterable<import('../js/lab.js').MatrixCell>} cells each row begins without a fault
 */
async function* inherited(cells) {
    /** @type {import('../js/lab.js').MatrixCell | undefined} */
    let faultless;
    for await (const cell of cells) {
        if (cell.fault === 'none') faultless = cell;
        const sooner = cell.explored && cell.verdict !== 'broken' && faultless?.verdict === 'broken';
        yield sooner ? { ...cell, verdict: faultless?.verdict, parts: faultless?.parts } : cell;
    }
}

addEventListener('message', async ({ data }) => {
    try {
        if (data.explore) {
            const progress = (/** @type {object} */ report) => postMessage({ report });
            postMessage({ report: await explore(data.explore, { progress }) });
        } else {
            for await (const cell of inherited(matrix({ work: 5_000, seeds: 20 }))) postMessage({ cell });
        }
        postMessage({ done: true });
    } catch (error) {
        postMessage({ error: error instanceof Error ? error.message : String(error) });
    }
});
