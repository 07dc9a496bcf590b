/** Faults that sequences, budgets and rate limits have in common: unreadable records, wrong arguments, no IndexedDB. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { details } from './page-waits.js';
import { tabs } from './open-tabs.js';
import { failsWith } from './expected-errors.js';

test('a record of a limit that cannot be read is quarantined, and the limit counts as used up', async () => {
    const {
        origin,
        tabs: [a],
        close,
        until,
    } = await tabs(1);
    const warnings = details(a, 'warning');
    for (const key of ['sequence/s', 'budget/b', 'rate/r']) {
        await origin.records('default', 'limits', (store) => store.put('nonsense', key));
    }
    assert.ok((await a.sequence('s').next()) > 1e15);
    assert.equal(await a.budget('b', { limit: 5 }).tryTake(), false);
    assert.equal(await a.rateLimit('r', { limit: 5, interval: 1000 }).tryTake(), false);
    await until(() => warnings.length === 3);
    assert.deepEqual(await origin.records('default', 'aside', (store) => store.getAllKeys()), [
        'limits/budget/b',
        'limits/rate/r',
        'limits/sequence/s',
    ]);
    await close();
});

test('wrong arguments of limits are refused at once, by name, and calls after close() are refused', async () => {
    const {
        tabs: [a],
        close,
    } = await tabs(1);
    const wrong = /** @type {any} */ (a);
    for (const [call, argument] of /** @type {[() => unknown, string][]} */ ([
        [() => wrong.sequence(''), 'name'],
        [() => wrong.sequence('s', { block: 0 }), 'block'],
        [() => wrong.sequence('s', { gapless: 1 }), 'gapless'],
        [() => wrong.sequence('s', { blocks: 1 }), 'options.blocks'],
        [() => wrong.budget('b', {}), 'limit'],
        [() => wrong.budget('b'), 'options'],
        [() => wrong.budget('b', []), 'options'],
        [() => wrong.budget('b', { limit: -1 }), 'limit'],
        [() => wrong.rateLimit('r', { limit: 1 }), 'interval'],
        [() => wrong.rateLimit('r', { limit: 0, interval: 1 }), 'limit'],
    ])) {
        assert.throws(
            call,
            (/** @type {any} */ error) => error.code === 'invalid-argument' && error.argument === argument,
        );
    }
    assert.ok(Object.is(wrong.budget('none', { limit: -0 }).limit, 0));
    await assert.rejects(wrong.sequence('s').reserve(0), failsWith('invalid-argument'));
    await assert.rejects(wrong.budget('b', { limit: 1 }).tryTake(0.5), failsWith('invalid-argument'));
    await assert.rejects(wrong.budget('b', { limit: 1 }).give('1'), failsWith('invalid-argument'));
    await assert.rejects(
        wrong.rateLimit('r', { limit: 1, interval: 1 }).take({ timeout: -1 }),
        failsWith('invalid-argument'),
    );
    const sequence = a.sequence('s');
    const budget = a.budget('b', { limit: 1 });
    assert.equal(a.sequence('s'), sequence);
    assert.equal(a.budget('b', { limit: 1 }), budget);
    assert.throws(() => a.sequence('s', { gapless: true }), failsWith('kind-mismatch'));
    assert.throws(() => a.budget('b', { limit: 9 }), failsWith('kind-mismatch'));
    assert.throws(() => a.rateLimit('r', { limit: 2, interval: 1 }), failsWith('kind-mismatch'));
    await sequence.next();
    await budget.tryTake();
    await close();
    await assert.rejects(sequence.next(), failsWith('closed'));
    await assert.rejects(budget.tryTake(), failsWith('closed'));
    await assert.rejects(a.rateLimit('r', { limit: 1, interval: 1 }).take(), failsWith('closed'));
});

test('without IndexedDB limits refuse calls, or hold within the page if that was allowed', async () => {
    const {
        tabs: [a],
        close,
    } = await tabs(1, { indexedDB: undefined });
    await assert.rejects(a.sequence('s').next(), failsWith('weaker-guarantee'));
    await close();
    const {
        tabs: [b],
        close: closeB,
    } = await tabs(1, { indexedDB: undefined }, { allowWeaker: true });
    assert.equal(await b.sequence('s').next(), 1);
    assert.equal(await b.budget('b', { limit: 1 }).tryTake(), true);
    assert.equal(await b.budget('b', { limit: 1 }).tryTake(), false);
    assert.equal(await b.rateLimit('r', { limit: 1, interval: 60_000 }).tryTake(), true);
    assert.equal(await b.rateLimit('r', { limit: 1, interval: 60_000 }).tryTake(), false);
    await closeB();
});
