/** Queues over tabs of one process: the order of jobs, their attempts, and the calls that stop and cancel them. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tabs } from './open-tabs.js';
import { failsWith } from './expected-errors.js';

test('a job enqueued in one tab runs once, in another, and its result returns', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    /** @type {any[]} */
    const works = [];
    b.queue('q').handle(async (work) => {
        works.push(work);
        work.progress(0.5, 'half');
        return { doubled: work.payload.n * 2 };
    });
    const receipt = await a.queue('q').enqueue({ n: 21 }, { key: 'one' });
    assert.equal(typeof receipt.id, 'string');
    assert.equal(receipt.key, 'one');
    assert.deepEqual(await receipt.result, { doubled: 42 });
    assert.equal(works.length, 1);
    assert.deepEqual([works[0].key, works[0].attempt, works[0].signal.aborted], ['one', 1, false]);
    await a.queue('q').onIdle();
    assert.equal(a.queue('q').size, 0);
    assert.deepEqual(await a.queue('q').jobs(), []);
    await close();
});

test('every cloneable value arrives as a payload and returns as a result unchanged', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    b.queue('q').handle(({ payload }) => payload);
    a.queue('r').handle(({ payload }) => payload);
    const values = [
        undefined,
        null,
        0,
        -0,
        NaN,
        'text;with/all%\n',
        [1, [2]],
        { a: { b: 1 } },
        new Map([[1, new Date(5)]]),
        new Uint8Array([1, 2]),
        { u: undefined },
        12n,
        'ü\u{1F600}',
    ];
    for (const value of values) {
        for (const name of ['q', 'r']) {
            assert.deepEqual(await (await a.queue(name).enqueue(value)).result, value);
        }
    }
    await close();
});

test('jobs run in the order of the queue, fifo or lifo, priority first, and a repeated key moves its job to the front', async () => {
    const {
        tabs: [a],
        close,
    } = await tabs(1);
    for (const [order, expected] of /** @type {const} */ ([
        ['fifo', ['p', 'b', 'a', 'c']],
        ['lifo', ['p', 'b', 'c', 'a']],
    ])) {
        const queue = a.queue(order, { order });
        for (const name of ['a', 'b', 'c']) await queue.enqueue(name, { key: name });
        await queue.enqueue('p', { priority: true });
        const again = await queue.enqueue('b', { key: 'b' });
        assert.equal(again.joined, true);
        assert.equal(queue.size, 4);
        assert.deepEqual(
            (await queue.jobs()).map(({ payload }) => payload),
            expected,
        );
        /** @type {string[]} */
        const order_ = [];
        queue.handle(({ payload }) => void order_.push(payload));
        await queue.onIdle();
        assert.deepEqual(order_, expected);
    }
    await close();
});

test('at most `concurrency` jobs run at a time, over all tabs', async () => {
    const { tabs: all, close, sleep } = await tabs(3);
    let running = 0;
    let most = 0;
    for (const tab of all) {
        tab.queue('q', { concurrency: 2 }).handle(async () => {
            most = Math.max(most, ++running);
            await sleep(2);
            running--;
        });
    }
    const receipts = await Promise.all(
        Array.from({ length: 40 }, (_, i) => all[/** @type {0} */ (i % 3)].queue('q').enqueue(i)),
    );
    assert.equal(new Set(receipts.map(({ id }) => id)).size, 40);
    await Promise.all(receipts.map(({ result }) => result));
    assert.equal(most, 2);
    await close();
});

test('a job that fails is tried again, and in the end becomes a dead letter with its error', async () => {
    const {
        tabs: [a, b],
        close,
        until,
    } = await tabs(2);
    /** @type {number[]} */
    const attempts = [];
    const options = { attempts: 2, backOff: 1 };
    b.queue('q', options).handle(({ attempt, payload }) => {
        attempts.push(attempt);
        if (payload === 'bad') throw new RangeError('too bad');
        return payload;
    });
    const queue = a.queue('q', options);
    const bad = await queue.enqueue('bad');
    const optional = await queue.enqueue('bad', { optional: true });
    await assert.rejects(bad.result, (error) => error instanceof RangeError && error.message === 'too bad');
    await assert.rejects(optional.result, RangeError);
    assert.deepEqual(attempts.sort(), [1, 1, 2]);
    const [dead, ...others] = await queue.deadLetters();
    assert.deepEqual(others, []);
    assert.equal(dead?.payload, 'bad');
    assert.equal(dead?.attempt, 2);
    assert.match(String(dead?.error), /too bad/);
    assert.equal(await dead?.retry(), true);
    await until(() => attempts.length === 5);
    await queue.onIdle();
    const [again] = await queue.deadLetters();
    assert.equal(await again?.discard(), true);
    assert.deepEqual(await queue.deadLetters(), []);
    await close();
});

test('the jobs that next() asks for are enqueued when their job is settled, or not at all', async () => {
    const {
        tabs: [a],
        close,
    } = await tabs(1);
    const queue = a.queue('book', { attempts: 2, backOff: 1 });
    /** @type {number[]} */
    const pages = [];
    queue.handle(({ payload: page, attempt, next }) => {
        if (page < 5) next(page + 1, { key: `page ${page + 1}` });
        if (page === 3 && attempt === 1) throw new Error('once');
        pages.push(page);
    });
    await queue.enqueue(1);
    await queue.onIdle();
    assert.deepEqual(pages, [1, 2, 3, 4, 5]);
    await close();
});

test('a job whose next() is refused fails with that error, and nothing of it is enqueued', async () => {
    const {
        tabs: [a],
        close,
    } = await tabs(1);
    const queue = a.queue('q', { limit: 2, attempts: 1 });
    queue.handle('go', ({ payload, next }) => {
        for (const n of payload) next(n, { kind: 'rest' });
        return 'gone';
    });
    const few = await queue.enqueue([1], { kind: 'go' });
    assert.equal(await few.result, 'gone');
    const many = await queue.enqueue([2, 3], { kind: 'go' });
    await assert.rejects(many.result, failsWith('queue-full'));
    assert.deepEqual(
        (await queue.jobs()).map(({ payload }) => payload),
        [1],
    );
    assert.equal((await queue.deadLetters()).length, 1);
    await close();
});

test('pause(), resume(), cancel() and clear() have effect in all tabs', async () => {
    const {
        tabs: [a, b],
        close,
        until,
    } = await tabs(2);
    /** @type {any[]} */
    const done = [];
    await a.queue('q').pause();
    b.queue('q').handle(({ payload }) => void done.push(payload));
    const [one, two] = await Promise.all(
        ['one', 'two', 'three'].map((name) => a.queue('q').enqueue(name, { key: name })),
    );
    /** @type {any[]} */
    const cancelled = [];
    a.queue('q').subscribe(({ type, key, kind }) => type === 'cancelled' && cancelled.push([key, kind]));
    assert.equal(await b.queue('q').cancel('one'), true);
    assert.equal(await b.queue('q').cancel('none'), false);
    await assert.rejects(/** @type {any} */ (one).result, { name: 'AbortError' });
    await until(() => cancelled.length > 0);
    assert.deepEqual(cancelled, [['one', '']], 'every tab receives the key and kind of the cancelled job');
    assert.deepEqual(done, []);
    await a.queue('q').resume();
    await two?.result;
    await a.queue('q').onIdle();
    assert.deepEqual(done, ['two', 'three']);
    await a.queue('q').pause();
    const last = await a.queue('q').enqueue('last');
    assert.equal(await b.queue('q').clear(), 1);
    await assert.rejects(last.result, { name: 'AbortError' });
    assert.equal(a.queue('q').size, 0);
    await close();
});

test('cancelling a running job aborts its signal, and nothing of it is kept', async () => {
    const {
        tabs: [a, b],
        close,
        until,
    } = await tabs(2);
    /** @type {unknown} */
    let reason;
    b.queue('q').handle(async ({ signal, next, payload }) => {
        if (payload === 'after') return;
        next('never');
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        reason = signal.reason;
    });
    let running = false;
    a.queue('q').subscribe(({ type }) => (running ||= type === 'running'));
    const receipt = await a.queue('q').enqueue('long', { key: 'long' });
    await until(() => running);
    await a.queue('q').cancel('long');
    await assert.rejects(receipt.result, { name: 'AbortError' });
    await (
        await a.queue('q').enqueue('after')
    ).result;
    assert.equal(/** @type {DOMException} */ (reason).name, 'AbortError');
    assert.deepEqual(await a.queue('q').jobs(), []);
    await close();
});

test('a queue that pauses on failure waits for resume(), for the network, or for another job', async () => {
    const {
        tabs: [a],
        windows: [window],
        close,
        until,
    } = await tabs(1);
    const queue = a.queue('q', { onFailure: 'pause', attempts: Infinity });
    let online = false;
    /** @type {any[]} */
    const tries = [];
    queue.handle(({ payload }) => {
        tries.push(payload);
        if (!online) throw new TypeError('offline');
    });
    /** @type {string[]} */
    const types = [];
    queue.subscribe(({ type }) => types.push(type));
    await queue.enqueue('a');
    await until(() => types.includes('paused'));
    await queue.enqueue('b');
    await until(() => types.filter((type) => type === 'paused').length === 2);
    await queue.resume();
    await until(() => types.filter((type) => type === 'paused').length === 3);
    assert.deepEqual(tries, ['a', 'a', 'a']);
    online = true;
    window?.dispatchEvent(new Event('online'));
    await queue.onIdle();
    assert.deepEqual(tries, ['a', 'a', 'a', 'a', 'b']);
    await close();
});

test('a tab takes only jobs of the kinds that it handles', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    /** @type {string[]} */
    const done = [];
    a.queue('q').handle('old', ({ payload }) => void done.push(`a ${payload}`));
    b.queue('q').handle(({ payload, kind }) => void done.push(`b ${kind} ${payload}`), {
        kinds: ['new', ''],
    });
    const queue = a.queue('q');
    const receipts = await Promise.all([
        queue.enqueue(1, { kind: 'new' }),
        queue.enqueue(2, { kind: 'old' }),
        queue.enqueue(3),
    ]);
    await Promise.all(receipts.map(({ result }) => result));
    assert.deepEqual(done.sort(), ['a 2', 'b  3', 'b new 1']);
    await close();
});
