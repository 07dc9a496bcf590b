/**
 * How often a test repeats what can go wrong at any moment: seldom in `npm test`, often in `npm run proof`, which sets
 * TABACUS_PROOF.
 *
 * @param {number} usual
 * @param {number} thorough
 */
export const repetitions = (usual, thorough) => (process.env.TABACUS_PROOF ? thorough : usual);
