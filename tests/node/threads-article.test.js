/** The Atomics article's program on the built package: user's Workers, C++ threads, and both. */

import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { threads } from 'tabacus/threads';
import { addersAll, startAdders } from '../programs/adders.js';
import { article, articleAdds, articleLoses, articleWorkers, exactKinds } from '../programs/article.js';
import { spawn } from '../programs/spawn.node.js';

// On two idle cores the first try loses; on one busy core it takes an interruption at the one moment.
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
    test(`${kind}: four workers, up and down again, exact`, async () => {
        assert.deepEqual(await article(shared, adders, kind), { up: total, down: 0 });
    });

    test(`${kind}: C++ threads, up and down again, exact`, async () => {
        const counter = shared.counter(`hammered ${kind}`, { kind });
        await shared.hammer(counter, { threads: articleWorkers, adds: articleAdds });
        assert.equal(counter.value, total);
        await shared.hammer(counter, { threads: articleWorkers, adds: articleAdds, amount: -1 });
        assert.equal(counter.value, 0);
    });

    test(`${kind}: workers, C++ threads and the main thread on one object, exact`, async () => {
        const name = `together ${kind}`;
        const counter = shared.counter(name, { kind });
        const hammered = shared.hammer(counter, { threads: 2, adds: articleAdds, amount: 3 });
        const added = addersAll(adders, { name, kind, n: 2, adds: articleAdds });
        for (let i = 0; i < articleAdds; i++) counter.add(5);
        await Promise.all([hammered, added]);
        assert.equal(counter.value, (2 * 3 + articleWorkers * 2 + 5) * articleAdds);
    });
}

test('unsynchronised: updates are seen to be lost', async (t) => {
    const seen = await articleLoses(shared, adders, triesMax);
    assert.ok(seen, `not one update was lost in ${triesMax} tries`);
    t.diagnostic(`after ${seen.tries} tries: ${seen.up} of ${total} up, ${seen.down} down`);
});
