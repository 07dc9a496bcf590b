/** The events that a queue emits about its jobs, their order, and the values of payloads that arrive. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { until } from './fake-origin.js';
import { tabs } from './queue-tabs.js';

/**
 * The events about jobs that a tab receives from this call on, in a list that grows.
 *
 * @param {import('tabacus').Queue} queue
 */
async function eventsOf(queue) {
    /** @type {any[]} */
    const events = [];
    await new Promise((resolve) => {
        queue.subscribe((state) => (state.type === 'state' ? resolve(0) : events.push(state)));
    });
    return events;
}

/** @param {any[]} events @param {string[]} types */
const only = (events, types) =>
    events.filter(({ type }) => types.includes(type)).map(({ type, key }) => [type, key]);

test('each job emits `running` and then its end, with its key and kind, also if some jobs fail', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    const queue = a.queue('q', { attempts: 1 });
    await queue.pause();
    const keys = Array.from({ length: 40 }, (_, n) => String(n));
    await Promise.all(keys.map((key) => queue.enqueue(0, { key, kind: 'k' })));
    const events = [await eventsOf(queue), await eventsOf(b.queue('q', { attempts: 1 }))];
    b.queue('q').handle('k', ({ key }) => {
        if (Number(key) % 3 === 1) throw new Error(key);
    });
    await queue.resume();
    await queue.onIdle();
    const expected = keys.flatMap((key) => [
        ['running', key],
        [Number(key) % 3 === 1 ? 'failed' : 'done', key],
    ]);
    for (const one of events) {
        await until(() => only(one, ['done', 'failed']).length === keys.length);
        assert.deepEqual(only(one, ['running', 'done', 'failed']), expected);
        assert.ok(one.every(({ type, kind }) => kind === 'k' || !['done', 'failed'].includes(type)));
    }
    await close();
});

test('a slow job emits its events in its position, and no job emits `returned` without `running`', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    const queue = a.queue('q');
    await queue.pause();
    const keys = Array.from({ length: 60 }, (_, n) => String(n));
    await Promise.all(keys.map((key) => queue.enqueue(0, { key })));
    const events = await eventsOf(queue);
    b.queue('q').handle(({ key }) => key === '30' && new Promise((resolve) => setTimeout(resolve, 30)));
    await queue.resume();
    await queue.onIdle();
    await until(() => only(events, ['done']).length === keys.length);
    assert.deepEqual(
        only(events, ['running', 'done', 'returned']),
        keys.flatMap((key) => [
            ['running', key],
            ['done', key],
        ]),
    );
    await close();
});

test('a tab that subscribes while jobs are claimed receives their keys and kinds', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    const queue = a.queue('q');
    await queue.pause();
    await Promise.all(Array.from({ length: 40 }, (_, n) => queue.enqueue(n, { key: String(n), kind: 'k' })));
    /** @type {any[] | undefined} */
    let events;
    queue.handle('k', async ({ payload }) => {
        if (payload === 10) events = await eventsOf(b.queue('q'));
    });
    await queue.resume();
    await queue.onIdle();
    await until(() => events?.at(-1)?.key === '39');
    for (const { type, key, kind } of events ?? []) {
        if (type === 'done') assert.deepEqual([typeof key, kind], ['string', 'k']);
    }
    await close();
});

test('close() settles the jobs that have ended and gives back the others, so that none is lost or run twice', async () => {
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

test('an object to which a payload refers twice arrives as one object, and is stored once', async () => {
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
    // As a tree this payload would have 2^60 leaves.
    assert.equal((await (await a.queue('q').enqueue(nested)).result)[0], true);
    await close();
});

test('a function that a handler throws arrives as an Error with its text', async () => {
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
