/** The events that a queue emits about its jobs, their order, and the values of payloads that arrive. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open } from 'tabacus';
import { tabs } from './open-tabs.js';
import { failsWith } from './expected-errors.js';

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
        until,
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
        until,
        sleep,
    } = await tabs(2);
    const queue = a.queue('q');
    await queue.pause();
    const keys = Array.from({ length: 60 }, (_, n) => String(n));
    await Promise.all(keys.map((key) => queue.enqueue(0, { key })));
    const events = await eventsOf(queue);
    b.queue('q').handle(({ key }) => key === '30' && sleep(30));
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
        until,
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
        until,
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
    await until(() => left !== undefined);
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

test('the first state has `paused` from the store, and one job of a claim runs at a time', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    await a.queue('q').pause();
    const first = await new Promise((resolve) => void b.queue('q').subscribe(resolve));
    assert.equal(first.paused, true);
    let most = 0;
    let listed = 0;
    b.queue('q').subscribe(({ running }) => (most = Math.max(most, running.length)));
    for (let n = 0; n < 100; n++) void a.queue('q').enqueue(n);
    a.queue('q').handle(
        async () => {
            const jobs = await b.queue('q').jobs();
            listed = Math.max(listed, jobs.filter(({ state }) => state === 'running').length);
        },
        { kinds: ['slow'] },
    );
    b.queue('q').handle('', () => {});
    await a.queue('q').resume();
    await b.queue('q').enqueue(0, { kind: 'slow' });
    await a.queue('q').onIdle();
    assert.deepEqual([most, listed], [1, 1]);
    await close();
});

test('a job emits `running` when it begins, and not when it is claimed ahead', async () => {
    const {
        tabs: [a, b],
        close,
        until,
    } = await tabs(2);
    const queue = a.queue('q');
    await queue.pause();
    const receipts = await Promise.all(Array.from({ length: 12 }, (_, n) => queue.enqueue(n)));
    /** @type {any[]} */
    const events = [];
    const first = new Promise(
        (resolve) => void queue.subscribe(({ type }) => type === 'state' && resolve(0)),
    );
    await first;
    queue.subscribe(({ type, id, running }) => {
        if (type === 'running' || type === 'done') events.push([type, id, running.map((job) => job.id)]);
    });
    b.queue('q').handle(() => {});
    await queue.resume();
    await Promise.all(receipts.map(({ result }) => result));
    await until(() => events.length >= 24);
    assert.deepEqual(
        events,
        receipts.flatMap(({ id }) => [
            ['running', id, [id]],
            ['done', id, []],
        ]),
    );
    await close();
});

test('a slow job counts as running while it runs, also if it was claimed ahead', async () => {
    const {
        tabs: [a, b],
        close,
        until,
    } = await tabs(2);
    const queue = a.queue('q');
    await queue.pause();
    for (let n = 0; n < 12; n++) await queue.enqueue(n, { key: String(n) });
    /** @type {any} */
    let last;
    let go = () => {};
    queue.subscribe((state) => (last = state));
    b.queue('q').handle(({ payload }) => payload === 3 && new Promise((resolve) => (go = () => resolve(0))));
    await queue.resume();
    await until(() => last?.type !== 'state' && last?.running[0]?.key === '3');
    assert.equal(last.running.length, 1);
    go();
    await queue.onIdle();
    await until(() => last.size === 0);
    assert.deepEqual(last.running, []);
    await close();
});

test('a job whose end was not announced does not count as running for ever', async () => {
    const {
        origin,
        tabs: [a, b],
        close,
        until,
    } = await tabs(2);
    let mute = false;
    const muted = (/** @type {any} */ { BroadcastChannel }) => ({
        BroadcastChannel: class extends BroadcastChannel {
            /** @param {unknown} message */
            postMessage(message) {
                if (!mute) super.postMessage(message);
            }
        },
    });
    const lost = await open({ window: origin.window(muted) });
    const queue = a.queue('q');
    /** @type {any} */
    let last;
    queue.subscribe((state) => (last = state));
    await until(() => last !== undefined);
    let go = () => {};
    const work = () => new Promise((resolve) => (go = () => resolve(0)));
    lost.queue('q').handle(work);
    const first = await queue.enqueue('first', { key: 'first' });
    await until(() => last.running.length === 1);
    mute = true;
    go();
    await first.result;
    await lost.close();
    b.queue('q').handle(work);
    const second = await queue.enqueue('second', { key: 'second' });
    await until(() => last.type === 'running');
    assert.deepEqual(
        last.running.map((/** @type {any} */ { key }) => key),
        ['second'],
    );
    go();
    await second.result;
    await close();
});

test('separators in a note of progress do not split it', async () => {
    const {
        tabs: [a],
        close,
        until,
    } = await tabs(1);
    /** @type {any[]} */
    const events = [];
    a.queue('q').subscribe(({ type, id, note }) => type === 'progress' && events.push([id, note]));
    a.queue('q').handle(({ progress }) => progress(0.5, 'a\0other\x000\0x'));
    const { id, result } = await a.queue('q').enqueue(1);
    await result;
    await until(() => events.length > 0);
    assert.deepEqual(events, [[id, 'aother0x']]);
    await close();
});

test('the state is the first event, next() after the end of its job is refused, and a thrown `undefined` arrives as such', async () => {
    const {
        tabs: [a],
        close,
        until,
    } = await tabs(1);
    const queue = a.queue('q');
    /** @type {string[]} */
    const types = [];
    const asked = queue.enqueue(1);
    await null;
    queue.subscribe(({ type }) => void types.push(type));
    /** @type {any} */
    let late;
    queue.handle(({ payload, next }) => {
        late = next;
        return payload;
    });
    assert.equal(await (await asked).result, 1);
    assert.throws(() => late('more'), failsWith('closed'));
    const failing = a.queue('failing', { attempts: 1 });
    failing.handle(async () => {
        throw undefined; // eslint-disable-line no-throw-literal
    });
    const outcome = await (await failing.enqueue(2)).result.catch((error) => ({ error }));
    assert.deepEqual(outcome, { error: undefined });
    await until(() => types.includes('done'));
    assert.equal(types[0], 'state');
    await close();
    assert.throws(() => queue.handle(() => {}), failsWith('closed'));
});
