/**
 * The program of the Atomics article on the built package: with Workers of the user, with C++ threads, and
 * with both.
 */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { threads } from 'tabacus/threads';
import { addersAll, startAdders } from '../programs/adders.js';
import { article, articleAdds, articleLoses, articleWorkers, exactKinds } from '../programs/article.js';
import { spawn } from '../programs/spawn.node.js';

// On two idle cores the first try loses an update. On one busy core a try loses one only if the thread is
// interrupted between its read and its write.
const triesMax = 1_000;

const total = articleWorkers * articleAdds;

/** @type {import('tabacus/threads').ThreadsMemory} */
let shared;
/** @type {import('../programs/adders.js').Adder[]} */
let adders;

before(async () => {
    shared = await threads();
    adders = await startAdders(spawn, articleWorkers, shared.handle);
});

after(() => Promise.all(adders.map((adder) => adder.terminate())));

for (const kind of exactKinds) {
    test(`four workers count a counter of the kind ${kind} up and down again exactly`, async () => {
        assert.deepEqual(await article(shared, adders, kind), { up: total, down: 0 });
    });

    test(`C++ threads count a counter of the kind ${kind} up and down again exactly`, async () => {
        const counter = shared.counter(`hammered ${kind}`, { kind });
        await shared.hammer(counter, { threads: articleWorkers, adds: articleAdds });
        assert.equal(counter.value, total);
        await shared.hammer(counter, { threads: articleWorkers, adds: articleAdds, amount: -1 });
        assert.equal(counter.value, 0);
    });

    test(`workers, C++ threads and the main thread together count a counter of the kind ${kind} exactly`, async () => {
        const name = `together ${kind}`;
        const counter = shared.counter(name, { kind });
        const hammered = shared.hammer(counter, { threads: 2, adds: articleAdds, amount: 3 });
        const added = addersAll(adders, { name, kind, n: 2, adds: articleAdds });
        for (let i = 0; i < articleAdds; i++) counter.add(5);
        await Promise.all([hammered, added]);
        assert.equal(counter.value, (2 * 3 + articleWorkers * 2 + 5) * articleAdds);
    });
}

test('an unsynchronised counter loses updates', async (t) => {
    const seen = await articleLoses(shared, adders, triesMax);
    assert.ok(seen, `not one update was lost in ${triesMax} tries`);
    t.diagnostic(`after ${seen.tries} tries: ${seen.up} of ${total} up, ${seen.down} down`);
});
