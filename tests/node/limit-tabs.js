/** Functions for the tests of limits. */

/** How many of a number of tries are granted. @param {import('tabacus').Budget} budget @param {number} tries */
export async function takes(budget, tries) {
    let taken = 0;
    for (let i = 0; i < tries; i++) taken += Number(await budget.tryTake());
    return taken;
}
