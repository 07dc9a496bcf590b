/** Sequences over tabs of one process: their order, their ranges, and how they go on after a lost database. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TabacusRangeError } from 'tabacus';
import { details } from './page-waits.js';
import { tabs } from './open-tabs.js';

test('a sequence gives no number twice over tabs, rises in each tab, and costs a transaction for each block', async () => {
    const { origin, tabs: all, close } = await tabs(3);
    const sequences = all.map((tab) => tab.sequence('s', { block: 10 }));
    let transactions = 0;
    origin.onWrite = (transaction) =>
        void (transactions += Number([...transaction.objectStoreNames].includes('limits')));
    /** @type {number[][]} */
    const got = [[], [], []];
    await Promise.all(
        sequences.map(async (sequence, index) => {
            for (let i = 0; i < 25; i++) got[index]?.push(await sequence.next());
        }),
    );
    for (const mine of got)
        assert.deepEqual(
            mine,
            [...mine].sort((a, b) => a - b),
        );
    assert.equal(new Set(got.flat()).size, 75);
    assert.equal(transactions, 9);
    await close();
});

test('a sequence begins at 1, and goes on where it was after all tabs were closed', async () => {
    const {
        tabs: [a],
        another,
        close,
    } = await tabs(1);
    assert.equal(await a.sequence('s').next(), 1);
    assert.equal(await a.sequence('s').next(), 2);
    assert.equal(await a.sequence('g', { gapless: true }).next(), 1);
    await close();
    const b = await another();
    assert.ok((await b.sequence('s').next()) > 2);
    assert.equal(await b.sequence('g', { gapless: true }).next(), 2);
    await b.close();
});

test('reserve() of a sequence gives a range, also one larger than a block, and concurrent ranges are disjoint', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    const mine = a.sequence('s', { block: 5 });
    const ranges = await Promise.all([
        mine.reserve(3),
        mine.reserve(50),
        b.sequence('s', { block: 5 }).reserve(4),
        mine.reserve(1),
    ]);
    for (const [index, size] of [3, 50, 4, 1].entries()) {
        assert.equal(Number(ranges[index]?.last) - Number(ranges[index]?.first) + 1, size);
    }
    const numbers = ranges.flatMap(({ first, last }) =>
        Array.from({ length: last - first + 1 }, (_, at) => first + at),
    );
    assert.equal(new Set(numbers).size, 58);
    assert.ok((await mine.next()) > Number(ranges[3]?.last));
    await close();
});

test('a gapless sequence leaves out no number, over tabs', async () => {
    const { tabs: all, close } = await tabs(3);
    const got = await Promise.all(
        Array.from({ length: 30 }, (_, i) => all[i % 3]?.sequence('s', { gapless: true }).next()),
    );
    assert.deepEqual(
        got.map(Number).sort((a, b) => a - b),
        Array.from({ length: 30 }, (_, i) => i + 1),
    );
    await close();
});

test('a sequence gives no number again after its database is lost, and emits `storelost`', async () => {
    const {
        origin,
        tabs: [a],
        another,
        close,
        until,
    } = await tabs(1);
    const before = new Set();
    for (let i = 0; i < 20; i++) before.add(await a.sequence('s', { block: 8 }).next());
    await origin.records('default', 'limits', (store) => store.clear());
    const b = await another();
    const lost = details(b, 'storelost');
    for (let i = 0; i < 20; i++) {
        for (const tab of [a, b]) {
            const number = await tab.sequence('s', { block: 8 }).next();
            assert.ok(!before.has(number), `${number} again`);
            before.add(number);
        }
    }
    await until(() => lost.length === 1);
    await b.close();
    await close();
});

test('a call that asks for more numbers than a sequence has left is refused alone', async () => {
    const {
        tabs: [a],
        close,
    } = await tabs(1);
    const sequence = a.sequence('s', { block: 10 });
    const most = Number.MAX_SAFE_INTEGER;
    assert.equal(await sequence.next(), 1);
    const [small, large, next] = await Promise.allSettled([
        sequence.reserve(20),
        sequence.reserve(most),
        sequence.reserve(1),
    ]);
    assert.deepEqual([small.status, large.status, next.status], ['fulfilled', 'rejected', 'fulfilled']);
    assert.ok(/** @type {any} */ (large).reason instanceof TabacusRangeError);
    assert.ok(/** @type {any} */ (next).value.first > /** @type {any} */ (small).value.last);
    await close();
});
