/** Faults of IndexedDB and of loading, by seed: no acknowledged write is lost, and every call ends. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from 'tabacus';
import { createOrigin, explore } from 'tabacus/emulator';

/** @typedef {import('tabacus').Tab} Tab */

/** What the tabs of a run have acknowledged. @typedef {{ flushed: number, enqueued: string[], numbers: number[] }} Acknowledged */

/** @type {WeakMap<object, Acknowledged>} */
const acknowledged = new WeakMap();

/** The codes with which a call may reject while IndexedDB does not work or a file is missing. */
const allowed = new Set([
    'store-failed',
    'unknown-commit',
    'unavailable',
    'closed',
    'TimeoutError',
    'lock-lost',
]);

/** Resolves with the value of a call, or with undefined if it rejects as it may. @template T @param {Promise<T>} call */
async function tried(call) {
    try {
        return await call;
    } catch (error) {
        const { code, name, message } = /** @type {any} */ (error);
        if (allowed.has(code) || allowed.has(name)) return undefined;
        throw new Error(`${code ?? name}: ${message}`, { cause: error });
    }
}

/** @param {any} page @param {any} context */
async function scenario({ window }, { origin, index }) {
    const all = acknowledged.get(origin) ?? { flushed: 0, enqueued: [], numbers: [] };
    acknowledged.set(origin, all);
    const tab = await tried(open({ window }));
    if (!tab) return;
    for (let turn = 0; turn < 2; ++turn) {
        const counter = tab.counter('c');
        counter.add(1);
        const flushed = await tried(counter.flush().then(() => true));
        // A tab whose database does not open counts in localStorage, which tabs with a database do not read.
        if (flushed && tab.capabilities.store === 'indexeddb') ++all.flushed;
        const id = `${index}/${turn}`;
        if (await tried(tab.queue('q').enqueue(id))) all.enqueued.push(id);
        await tried(
            tab.lock('l').run((held) => held.commit('s', (tx) => tx.put('s', 'k', id)), { timeout: 5_000 }),
        );
        const number = await tried(tab.sequence('n', { block: 2 }).next({ timeout: 5_000 }));
        if (number !== undefined) all.numbers.push(number);
    }
    await tried(tab.close());
}

/** @param {any} context */
async function invariant({ origin }) {
    const all = acknowledged.get(origin) ?? { flushed: 0, enqueued: [], numbers: [] };
    const tab = await open({ window: origin.openTab().window });
    const read = await tab.counter('c').read();
    const jobs = (await tab.queue('q').jobs()).map(({ payload }) => payload);
    const missing = all.enqueued.filter((id) => !jobs.includes(id));
    if (new Set(jobs).size < jobs.length) return `a job is there twice: ${jobs}`;
    if (missing.length > 0) return `jobs are lost: ${missing}`;
    if (read < all.flushed || read > 4) return `the counter is ${read}, and ${all.flushed} were flushed`;
    if (new Set(all.numbers).size < all.numbers.length) return `a number was given twice: ${all.numbers}`;
    await tab.close();
    return true;
}

for (const fault of /** @type {const} */ ([
    'dead-connection',
    'hang-open',
    'hang-transaction',
    'missing-chunk',
])) {
    test(`tabs under ${fault} lose nothing that they acknowledged, and equal explorations are equal`, async () => {
        const run = () =>
            explore(scenario, {
                invariant,
                tabs: 2,
                seeds: 4,
                faults: [fault],
                faultBudget: 2,
                steps: 100_000,
                exhaust: 0,
            });
        const [first, second] = [await run(), await run()];
        assert.equal(first.verdict, 'unbroken within the bound', first.failure);
        assert.ok((first.faults[fault] ?? 0) > 0, 'the fault has happened');
        assert.equal(first.hash, second.hash);
    });
}

test('calls that miss a file of tabacus reject, and work again once it can be loaded', async () => {
    const origin = await createOrigin();
    const page = origin.openTab();
    const { window } = page;
    const missing = { code: 'unavailable', message: /could not be loaded.*Failed to fetch/ };
    const end = page.loseChunks();
    await assert.rejects(open({ window }), missing);
    end();
    const tab = await open({ window });
    const counter = tab.counter('c');
    counter.add(1);
    for (const [call, loads] of /** @type {[() => Promise<unknown>, number][]} */ ([
        [() => tab.lock('l').run(() => {}, { timeout: 1_000 }), 2],
        [() => tab.once('o', () => 1), 3],
        [() => tab.queue('q').enqueue(1), 1],
        [() => tab.sequence('n').next(), 2],
        [() => tab.counter('b', { strategy: 'batched' }).add(1), 1],
    ])) {
        const found = page.loseChunks(loads);
        await assert.rejects(call(), missing, `${call}`);
        found();
        await call();
    }
    page.loseChunks();
    await counter.flush({ timeout: 1_000 }); // a counter needs no other file
    assert.equal(await counter.read(), 1);
    assert.throws(() => page.loseChunks(0), { code: 'invalid-argument' });
    await tab.close();
    origin.close();
});
