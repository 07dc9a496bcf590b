/** Rounds the numbers of local variables that functions declare, in the binary of a piece. */

import { decoded, encoded, withSection } from './leb128.js';

const codeSection = 10;

/** The numbers to which a number of local variables is raised: the first one that is not smaller. */
const steps = [6, 20, 60];

/** @param {number} count */
const rounded = (count) => steps.find((step) => step >= count) ?? count;

/**
 * The body of a function that declares more variables of the last type, which nothing uses.
 *
 * @param {Buffer} body
 * @returns {Uint8Array}
 */
function withRoundedCount(body) {
    let [groups, at] = decoded(body, 0);
    if (groups === 0) return body;
    for (; groups > 1; groups--) at = decoded(body, at)[1] + 1; // behind the type
    const [count, end] = decoded(body, at);
    return Buffer.concat([body.subarray(0, at), Buffer.from(encoded(rounded(count))), body.subarray(end)]);
}

/**
 * Raises the number of local variables that each function declares to one of a few numbers. There are then few
 * beginnings of functions, and they compress better. Compilers to machine code drop a variable that nothing uses.
 *
 * @param {Buffer} module
 * @returns {Buffer}
 */
export const roundLocalCounts = (module) =>
    withSection(module, codeSection, (section) => {
        const [count, first] = decoded(section, 0);
        /** @type {Uint8Array[]} */
        const bodies = [section.subarray(0, first)];
        let at = first;
        for (let i = 0; i < count; i++) {
            const [size, begin] = decoded(section, at);
            at = begin + size;
            const body = withRoundedCount(section.subarray(begin, at));
            bodies.push(Buffer.from(encoded(body.length)), body);
        }
        return Buffer.concat(bodies);
    });
