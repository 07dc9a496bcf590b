/**
 * The number of times that a test repeats an operation which can fail at any moment: few in `npm test`, and many in
 * `npm run proof`, which sets TABACUS_PROOF.
 *
 * @param {number} usual
 * @param {number} thorough
 */
export const repetitions = (usual, thorough) => (process.env.TABACUS_PROOF ? thorough : usual);
