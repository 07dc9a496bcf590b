/** Runs one example of a doc comment; in a Worker, the one that it was started with. */

import { isMainThread, parentPort, workerData } from 'node:worker_threads';
import { attach } from 'tabacus/worker';

const AsyncFunction = /** @type {any} */ (Object.getPrototypeOf(async () => {}).constructor);

/** An import of names, as examples have it. */
const importing = /^import \{ ([^}]*) \} from ('[^']*');/gm;

/**
 * Runs the text of an example. Its imports become calls of `load`, since a function has none.
 *
 * @param {string} body
 * @param {Record<string, unknown>} scope the names that the example uses and does not declare
 * @param {(specifier: string) => Promise<unknown>} load
 * @returns {Promise<void>}
 */
export async function runExample(body, scope, load) {
    const text = body.replace(importing, 'const { $1 } = await load($2);');
    // The block lets the example declare a name of the scope.
    const run = new AsyncFunction('load', ...Object.keys(scope), `'use strict';\n{\n${text}\n}`);
    await run(load, ...Object.values(scope));
}

if (!isMainThread && workerData?.body) {
    const shared = await attach(workerData.handle);
    let calls = 0;
    await runExample(workerData.body, { shared, work: () => ++calls }, (specifier) => import(specifier));
    shared.close();
    parentPort?.postMessage(calls);
}
