/** Collects garbage, and reports which objects are left. */

import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { nextMacrotask } from '../../js/common/macrotask.js';

/** Collects garbage: frees every object that cannot be reached. @type {() => void} */
export const collect = (setFlagsFromString('--expose-gc'), runInNewContext('gc'));

/** @param {WeakRef<object>[]} refs @returns {Promise<number>} how many of the objects are not collected */
export async function kept(refs) {
    for (let turn = 0; turn < 4; ++turn) {
        await nextMacrotask();
        collect();
    }
    return refs.filter((one) => one.deref()).length;
}
