/** Budgets over tabs of one process: how much can be taken, the rights that tabs hold, and a lost database. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TabacusRangeError } from 'tabacus';
import { details, firePage } from './page-waits.js';
import { tabs } from './open-tabs.js';
import { takes } from './limit-tabs.js';

test('a budget is never overspent by tabs that compete, and all of it can be spent', async () => {
    const { tabs: all, close } = await tabs(3);
    const taken = await Promise.all(all.map((tab) => takes(tab.budget('b', { limit: 1000 }), 500)));
    assert.equal(
        taken.reduce((sum, one) => sum + one, 0),
        1000,
    );
    for (const tab of all) assert.equal(await tab.budget('b', { limit: 1000 }).tryTake(), false);
    await close();
});

test('a burst of takes from a budget needs few transactions', async () => {
    const {
        origin,
        tabs: [a],
        close,
    } = await tabs(1);
    const budget = a.budget('b', { limit: 1_000_000 });
    await budget.tryTake();
    let transactions = 0;
    origin.onWrite = () => void transactions++;
    assert.equal(await takes(budget, 10_000), 10_000);
    assert.ok(transactions < 100, `${transactions} transactions`);
    await close();
});

test('an amount given back to a budget can be taken by any tab, and `available` follows', async () => {
    const {
        tabs: [a, b],
        close,
        until,
    } = await tabs(2);
    const mine = a.budget('b', { limit: 10 });
    const theirs = b.budget('b', { limit: 10 });
    assert.equal(mine.available, 10);
    assert.equal(await mine.tryTake(7), true);
    assert.equal(mine.available, 3);
    await until(() => theirs.available === 3);
    assert.equal(await theirs.tryTake(4), false);
    assert.equal(await theirs.tryTake(11), false);
    await mine.give(2);
    assert.equal(await theirs.tryTake(4), true);
    await assert.rejects(mine.give(20), (error) => error instanceof TabacusRangeError);
    assert.equal(await theirs.tryTake(), true);
    assert.equal(await theirs.tryTake(), false);
    await close();
});

test('the rights to a budget that a tab holds come back when it closes, hides or dies', async () => {
    const {
        windows,
        tabs: [a, b, c],
        another,
        close,
        sleep,
    } = await tabs(3);
    const limit = 300;
    for (const tab of [a, b, c]) assert.equal(await takes(tab.budget('b', { limit }), 50), 50);
    await a.close();
    firePage(windows[1], 'pagehide');
    await sleep(30);
    const d = await another();
    assert.equal(await takes(d.budget('b', { limit }), 151), 150);
    firePage(windows[1], 'pageshow');
    assert.equal(await b.budget('b', { limit }).tryTake(), false);
    await d.close();
    await close();
});

test('nothing can be spent of a budget that vanished with its database, and `storelost` is emitted', async () => {
    const {
        origin,
        tabs: [a],
        another,
        close,
        until,
        sleep,
    } = await tabs(1);
    assert.equal(await a.budget('b', { limit: 10 }).tryTake(4), true);
    await sleep(30);
    await origin.records('default', 'limits', (store) => store.clear());
    const b = await another();
    const lost = details(b, 'storelost');
    assert.equal(await b.budget('b', { limit: 10 }).tryTake(), false);
    await until(() => lost.length === 1);
    await b.budget('b', { limit: 10 }).give(3);
    assert.equal(await b.budget('b', { limit: 10 }).tryTake(3), true);
    assert.equal(await b.budget('new', { limit: 10 }).tryTake(10), true);
    await b.close();
    await close();
});
