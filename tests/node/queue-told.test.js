/** What a queue tells of its jobs, in which order; and what of a payload arrives. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from './fake-origin.js';
import { tabs } from './queue-tabs.js';

/**
 * What a tab hears of jobs from here on.
 *
 * @param {import('tabacus').Queue} queue
 */
async function heard(queue) {
    /** @type {any[]} */
    const told = [];
    await new Promise((resolve) => {
        queue.subscribe((state) => (state.type === 'state' ? resolve(0) : told.push(state)));
    });
    return told;
}

/** @param {any[]} told @param {string[]} types */
const only = (told, types) =>
    told.filter(({ type }) => types.includes(type)).map(({ type, key }) => [type, key]);

test('each is told to run and to have ended, in that order, with its key and kind, also where some fail', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    const queue = a.queue('q', { attempts: 1 });
    await queue.pause();
    const keys = Array.from({ length: 40 }, (_, n) => String(n));
    await Promise.all(keys.map((key) => queue.enqueue(0, { key, kind: 'k' })));
    const told = [await heard(queue), await heard(b.queue('q', { attempts: 1 }))];
    b.queue('q').handle('k', ({ key }) => {
        if (Number(key) % 3 === 1) throw new Error(key);
    });
    await queue.resume();
    await queue.onIdle();
    const expected = keys.flatMap((key) => [
        ['running', key],
        [Number(key) % 3 === 1 ? 'failed' : 'done', key],
    ]);
    for (const one of told) {
        await until(() => only(one, ['done', 'failed']).length === keys.length);
        assert.deepEqual(only(one, ['running', 'done', 'failed']), expected);
        assert.ok(one.every(({ type, kind }) => kind === 'k' || !['done', 'failed'].includes(type)));
    }
    await close();
});

test('of one that takes its time others hear after those before it; none is returned that nobody saw run', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    const queue = a.queue('q');
    await queue.pause();
    const keys = Array.from({ length: 60 }, (_, n) => String(n));
    await Promise.all(keys.map((key) => queue.enqueue(0, { key })));
    const told = await heard(queue);
    b.queue('q').handle(({ key }) => key === '30' && new Promise((resolve) => setTimeout(resolve, 30)));
    await queue.resume();
    await queue.onIdle();
    await until(() => only(told, ['done']).length === keys.length);
    assert.deepEqual(
        only(told, ['running', 'done', 'returned']),
        keys.flatMap((key) => [
            ['running', key],
            ['done', key],
        ]),
    );
    await close();
});

test('who first looks while jobs are claimed hears their keys and kinds, too', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    const queue = a.queue('q');
    await queue.pause();
    await Promise.all(Array.from({ length: 40 }, (_, n) => queue.enqueue(n, { key: String(n), kind: 'k' })));
    /** @type {any[] | undefined} */
    let told;
    queue.handle('k', async ({ payload }) => {
        if (payload === 10) told = await heard(b.queue('q'));
    });
    await queue.resume();
    await queue.onIdle();
    await until(() => told?.at(-1)?.key === '39');
    for (const { type, key, kind } of told ?? []) {
        if (type === 'done') assert.deepEqual([typeof key, kind], ['string', 'k']);
    }
    await close();
});

test('close() settles what had ended, and gives back the others: nothing of them is lost or run twice', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    const receipts = await Promise.all(Array.from({ length: 300 }, (_, n) => b.queue('q').enqueue(n)));
    /** @type {number[]} */
    const ended = [];
    /** @type {any} */
    let left;
    a.queue('q').handle(async ({ payload }) => {
        if (payload === 150) await (left = a.close());
        else ended.push(payload);
    });
    await until(() => left);
    await left;
    /** @type {number[]} */
    const lost = [];
    b.queue('q').handle(({ payload, lostWorkers }) => {
        ended.push(payload);
        lost.push(lostWorkers);
    });
    await Promise.all(receipts.map(({ result }) => result));
    assert.deepEqual(
        ended,
        receipts.map((_, n) => n),
    );
    assert.ok(lost.every((count) => count === 0));
    await close();
});

test('what a payload refers to twice is one thing where it arrives, and costs no more than its size', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    b.queue('q').handle(({ payload }) => [payload[0] === payload[1], payload]);
    const shared = { text: 'once' };
    const [same, back] = await (await a.queue('q').enqueue([shared, shared])).result;
    assert.equal(same, true);
    assert.equal(back[0], back[1]);
    /** @type {any} */
    let nested = {};
    for (let depth = 0; depth < 60; depth++) nested = [nested, nested];
    assert.equal((await (await a.queue('q').enqueue(nested)).result)[0], true); // a tree of 2^60 leaves
    await close();
});

test('a function that was thrown is an Error with its text', async () => {
    const {
        tabs: [a],
        close,
    } = await tabs(1);
    a.queue('q', { attempts: 1 }).handle(() => {
        throw () => 1; // eslint-disable-line no-throw-literal -- anything may be thrown
    });
    await assert.rejects((await a.queue('q').enqueue(0)).result, { name: 'Error', message: '() => 1' });
    await close();
});
