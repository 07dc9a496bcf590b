/** One of the four Workers of a tab that count in the counter over all tabs. */

import { attach } from './package-worker.js';

/** The number of increments after which a Worker flushes. */
const BATCH = 5_000;

addEventListener('message', async ({ data: { handle, name, adds, added, at } }) => {
    const shared = await attach(handle);
    const counter = shared.tabCounter(name);
    for (let i = 1; i <= adds; i += 1) {
        counter.add();
        Atomics.add(added, at, 1); // for the page, which shows how often add() has returned
        if (i % BATCH === 0) counter.flush();
    }
    counter.flush();
    shared.close();
    postMessage('done');
});
