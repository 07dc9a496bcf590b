/**
 * Queues over tabs of one process: the public API, its errors, and the fate of jobs whose tabs close, hide or
 * freeze.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { open, TabacusError } from 'tabacus';
import { LockOrigin } from './fake-locks.js';
import { details, until } from './fake-origin.js';
import { failsWith, tabs } from './queue-tabs.js';

/** @typedef {import('tabacus').Tab} Tab */

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
    const { tabs: all, close } = await tabs(3);
    let running = 0;
    let most = 0;
    for (const tab of all) {
        tab.queue('q', { concurrency: 2 }).handle(async () => {
            most = Math.max(most, ++running);
            await new Promise((resolve) => setTimeout(resolve, 2));
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
    } = await tabs(2);
    let mute = false;
    class Muted extends origin.BroadcastChannel {
        /** @param {unknown} message */
        postMessage(message) {
            if (!mute) super.postMessage(message);
        }
    }
    const lost = await open({
        window: origin.window({
            BroadcastChannel: Muted,
            navigator: { locks: new LockOrigin().manager('lost') },
        }),
    });
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

test('a tab that is being frozen begins no transaction when its job is done, but does so when it resumes', async () => {
    const {
        origin,
        windows: [window],
        tabs: [a, b],
        close,
    } = await tabs(2);
    /** @type {(value: string) => void} */
    let go = () => {};
    b.queue('q').handle(() => new Promise((resolve) => (go = resolve)));
    const { result } = await a.queue('q').enqueue('job');
    await until(() => go.length === 1);
    const collecting = () =>
        origin.transactions.filter(
            ({ mode, objectStoreNames: names }) =>
                mode === 'readwrite' && names.length === 2 && names.contains('data'),
        ).length;
    const before = collecting();
    window?.document.dispatchEvent(new Event('freeze'));
    go('done');
    await until(() => a.queue('q').size === 0);
    for (let n = 0; n < 20; n++) assert.deepEqual(await b.queue('q').jobs(), []);
    assert.equal(collecting(), before);
    window?.document.dispatchEvent(new Event('resume'));
    assert.equal(await result, 'done');
    assert.ok(collecting() > before);
    await close();
});

test('a job that is enqueued while its tab is being frozen is accepted when the tab resumes, and holds up no other tab', async () => {
    const {
        origin,
        windows: [window],
        tabs: [a, b],
        close,
    } = await tabs(2);
    await a.queue('q').enqueue('before');
    const writing = () =>
        origin.transactions.filter(
            ({ mode, objectStoreNames: names }) => mode === 'readwrite' && names.contains('jobs'),
        ).length;
    const before = writing();
    window?.document.dispatchEvent(new Event('freeze'));
    const asked = a.queue('q').enqueue('meanwhile');
    for (let n = 0; n < 20; n++) assert.equal((await b.queue('q').jobs()).length, 1);
    assert.equal(writing(), before);
    window?.document.dispatchEvent(new Event('resume'));
    await asked;
    assert.equal((await b.queue('q').jobs()).length, 2);
    await close();
});

test('jobs(), deadLetters() and subscribe() of a page that is being frozen answer when it resumes', async () => {
    const {
        windows: [window],
        tabs: [a],
        close,
    } = await tabs(1);
    const queue = a.queue('q');
    await queue.enqueue('waits');
    const first = new Promise((resolve) => void queue.subscribe(resolve));
    const asked = [queue.jobs(), queue.deadLetters()];
    window?.document.dispatchEvent(new Event('freeze'));
    window?.document.dispatchEvent(new Event('resume'));
    assert.equal(/** @type {any} */ (await first).size, 1);
    assert.deepEqual(
        (await Promise.all(asked)).map(({ length }) => length),
        [1, 0],
    );
    await close();
});

test('close() waits until the jobs that were enqueued before it are stored, however far they are', async () => {
    for (let turns = 0; turns < 40; turns++) {
        const {
            tabs: [a, b],
            close,
        } = await tabs(2);
        await a.queue('q').enqueue('loads the module');
        const receipt = a.queue('q').enqueue('on its way');
        void receipt.then(({ result }) => result.catch(() => {}));
        for (let turn = 0; turn < turns; turn++) await undefined;
        await a.close();
        assert.equal((await receipt).joined, false);
        assert.equal((await b.queue('q').jobs()).length, 2);
        await close();
    }
});

test('close() waits for calls of a queue that is still being loaded, and later calls are refused', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    const queue = a.queue('q');
    const first = queue.enqueue('first of all');
    const closing = a.close();
    const late = queue.enqueue('late').then(
        () => 'kept',
        ({ code }) => code,
    );
    void first.then(({ result }) => result.catch(() => {}));
    await closing;
    assert.equal((await first).joined, false);
    assert.equal(await late, (await b.queue('q').jobs()).length === 1 ? 'closed' : 'kept');
    await close();
});

test('close() of a page that was frozen amid an enqueue() ends', async () => {
    const {
        windows: [window],
        tabs: [a],
        close,
    } = await tabs(1);
    await a.queue('q').enqueue('loads the module');
    window?.document.dispatchEvent(new Event('freeze'));
    const asked = a
        .queue('q')
        .enqueue('meanwhile')
        .catch(({ code }) => code);
    await a.close();
    assert.equal(await asked, 'closed');
    await close();
});

test('pause(), resume(), cancel() and clear() have effect in all tabs', async () => {
    const {
        tabs: [a, b],
        close,
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

test('a page that is left aborts the signal of its job and gives the job back, and another tab runs it', async () => {
    const {
        tabs: [a, b],
        windows: [window],
        close,
    } = await tabs(2);
    /** @type {AbortSignal | undefined} */
    let held;
    a.queue('q').handle(({ signal }) => {
        held = signal;
        return new Promise(() => {});
    });
    const receipt = await b.queue('q').enqueue('job');
    await until(() => held !== undefined);
    /** @type {number[]} */
    const lost = [];
    b.queue('q').handle(({ lostWorkers }) => lost.push(lostWorkers));
    window?.page('pagehide');
    await receipt.result;
    assert.equal(held?.aborted, true);
    assert.deepEqual(lost, [0], 'a clean exit does not count as a lost worker');
    await close();
});

test('an at-most-once job whose worker was lost becomes a dead letter, and is not run again', async () => {
    const {
        tabs: [a, b],
        windows: [window],
        close,
    } = await tabs(2);
    let runs = 0;
    a.queue('q', { delivery: 'at-most-once' }).handle(() => {
        runs++;
        return new Promise(() => {});
    });
    const queue = b.queue('q', { delivery: 'at-most-once' });
    const receipt = await queue.enqueue('job');
    await until(() => runs === 1);
    queue.handle(() => void runs++);
    window?.page('pagehide');
    await assert.rejects(receipt.result, failsWith('lost-worker'));
    assert.equal(runs, 1);
    assert.equal((await queue.deadLetters()).length, 1);
    await close();
});

test('a value that can be cloned but not stored is refused, and no other job fails with it (HTML §2.7.3)', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    const options = { attempts: 1 };
    const queue = a.queue('q', options);
    const module = new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]));
    const memory = new WebAssembly.Memory({ shared: true, initial: 1, maximum: 1 });
    const values = [
        new SharedArrayBuffer(4),
        { in: [new Map([[1, new Uint8Array(new SharedArrayBuffer(1))]])] },
        new Set([module]),
        new Error('of many threads', { cause: new SharedArrayBuffer(4) }),
        [new TypeError('in it', { cause: { module } })],
        memory,
    ];
    const all = await Promise.allSettled(
        [new Date(1), ...values, new Date(2)].map((value) => queue.enqueue(value)),
    );
    assert.deepEqual(
        all.map(({ status }) => status),
        ['fulfilled', ...values.map(() => 'rejected'), 'fulfilled'],
    );
    for (const { reason } of /** @type {PromiseRejectedResult[]} */ (all.slice(1, -1)))
        assert.ok(failsWith('not-cloneable')(reason));
    b.queue('q', options).handle(({ payload }) => (Number(payload) === 1 ? module : 'done'));
    const [first, last] = [all[0], all.at(-1)].map(
        (one) => /** @type {PromiseFulfilledResult<import('tabacus').Receipt>} */ (one).value.result,
    );
    await assert.rejects(/** @type {Promise<unknown>} */ (first), failsWith('not-cloneable'));
    assert.equal(await last, 'done');
    await close();
});

test('wrong arguments are refused at once, by name, and change nothing', async () => {
    const {
        tabs: [a],
        close,
    } = await tabs(1);
    const queue = a.queue('q', { limit: 2 });
    const both = await Promise.allSettled([1, 2, 3].map((n) => queue.enqueue(n)));
    assert.deepEqual(
        both.map(({ status }) => status),
        ['fulfilled', 'fulfilled', 'rejected'],
    );
    assert.ok(failsWith('queue-full')(/** @type {any} */ (both[2]).reason));
    assert.equal(queue.size, 2);
    await assert.rejects(
        queue.enqueue(() => {}),
        failsWith('not-cloneable'),
    );
    await assert.rejects(queue.enqueue(1, { priority: 1.5 }), failsWith('invalid-argument'));
    await assert.rejects(queue.enqueue(1, /** @type {any} */ ({ prio: 1 })), failsWith('invalid-argument'));
    assert.throws(() => a.queue('r', { concurrency: 0 }), failsWith('invalid-argument'));
    assert.throws(
        () => a.queue('r', /** @type {any} */ ({ order: 'random' })),
        failsWith('invalid-argument'),
    );
    assert.throws(() => a.queue(''), failsWith('invalid-argument'));
    assert.throws(() => a.queue('q', { limit: 3 }), failsWith('kind-mismatch'));
    assert.equal(a.queue('q'), queue);
    assert.throws(() => queue.handle(/** @type {any} */ (1)), failsWith('invalid-argument'));
    assert.throws(() => a.queue('r', /** @type {any} */ (null)), failsWith('invalid-argument'));
    await assert.rejects(queue.enqueue(1, { key: '' }), failsWith('invalid-argument'));
    await assert.rejects(queue.cancel(''), failsWith('invalid-argument'));
    // Wrong arguments are refused also before the queue is loaded.
    const fresh = a.queue('fresh');
    fresh.handle('one', () => {});
    const none = () => {};
    for (const wrong of [
        { kind: 'one' },
        { kinds: [] },
        { kinds: [1] },
        { kinds: ['two', 'one'] },
        {},
        null,
    ]) {
        assert.throws(() => fresh.handle(none, /** @type {any} */ (wrong)), failsWith('invalid-argument'));
    }
    const end = fresh.handle('two', none);
    end();
    end();
    fresh.handle('two', none);
    const options = { key: 'before' };
    const asked = fresh.enqueue(1, options);
    options.key = 'after';
    assert.equal((await asked).key, 'before');
    await close();
    await assert.rejects(queue.enqueue(1), failsWith('closed'));
    assert.throws(() => queue.handle(none), failsWith('closed'));
    assert.throws(() => queue.subscribe(none), failsWith('closed'));
});

test('on a full disk the job that does not fit is refused as quota-exceeded, and no other', async () => {
    const {
        tabs: [a],
        origin,
        close,
    } = await tabs(1);
    const queue = a.queue('q');
    await queue.enqueue('first');
    origin.onWrite = (transaction) => {
        const { objectStore } = transaction;
        transaction.objectStore = (/** @type {string} */ name) => {
            const store = objectStore.call(transaction, name);
            const put = store.put.bind(store);
            store.put = (/** @type {any} */ value, /** @type {any} */ key) => {
                if (typeof value === 'string' && value.includes('huge'))
                    throw new DOMException('full', 'QuotaExceededError');
                return put(value, key);
            };
            return store;
        };
    };
    const [small, huge] = await Promise.allSettled([queue.enqueue('small'), queue.enqueue('huge')]);
    assert.equal(small?.status, 'fulfilled');
    assert.ok(failsWith('quota-exceeded')(/** @type {any} */ (huge)?.reason));
    assert.deepEqual(
        (await queue.jobs()).map(({ payload }) => payload),
        ['first', 'small'],
    );
    await close();
});

test('without Web Locks a queue works over a lease, and without IndexedDB it is unavailable', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2, { navigator: {} });
    let runs = 0;
    for (const tab of [a, b]) tab.queue('q').handle(() => ++runs);
    const receipts = await Promise.all([1, 2, 3].map((n) => a.queue('q').enqueue(n)));
    await Promise.all(receipts.map(({ result }) => result));
    assert.equal(runs, 3);
    await close();
    const bare = await tabs(1, { indexedDB: undefined });
    const warnings = details(bare.tabs[0], 'warning');
    bare.tabs[0].queue('q').handle(() => {})();
    bare.tabs[0].queue('q').subscribe(() => {})();
    await assert.rejects(bare.tabs[0].queue('q').enqueue(1), failsWith('unavailable'));
    await until(() => warnings.length === 2);
    assert.deepEqual(
        warnings.map(({ code, subject }) => [code, subject]),
        [
            ['unavailable', 'q'],
            ['unavailable', 'q'],
        ],
    );
    assert.deepEqual(bare.windows[0]?.errors, []);
    await bare.close();
});

test('unreadable rows are quarantined with a warning', async () => {
    const {
        tabs: [a],
        origin,
        close,
    } = await tabs(1);
    const warnings = details(a, 'warning');
    const queue = a.queue('q');
    for (const n of [1, 2]) await queue.enqueue(n);
    await origin.records('default', 'jobs', (jobs) =>
        jobs.put({ some: 'thing' }, 'q/r//10004503599627370495'),
    );
    /** @type {any[]} */
    const done = [];
    queue.handle(({ payload }) => void done.push(payload));
    await queue.onIdle();
    await until(() => warnings.length > 0);
    assert.equal(warnings[0].code, 'corrupt-record');
    assert.deepEqual(done, [2]);
    await close();
});

test('an error of a handler arrives with its class, name, message and code: in the result, in events and in the dead letter', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    const thrown = [
        new DOMException('full', 'QuotaExceededError'),
        new DOMException('no', 'NotAllowedError'), // a name without a legacy code
        Object.assign(new Error('not found'), { code: 404 }),
        Object.assign(new RangeError('far'), { code: 'FAR' }),
        new TabacusError('closed', 'shut'),
    ];
    b.queue('q', { attempts: 1 }).handle(({ payload }) => {
        throw thrown[payload];
    });
    const queue = a.queue('q', { attempts: 1 });
    /** @type {any[]} */
    const errors = [];
    queue.subscribe(({ type, error }) => type === 'failed' && errors.push(error));
    for (const [at, { name, message, code, constructor }] of /** @type {[number, any][]} */ ([
        ...thrown.entries(),
    ])) {
        const reason = await (await queue.enqueue(at)).result.catch((error) => error);
        const letter = (await queue.deadLetters()).find(({ payload }) => payload === at);
        await until(() => errors.length === at + 1);
        for (const error of [reason, letter?.error, errors[at]]) {
            assert.ok(error instanceof constructor, `${constructor.name}: ${error}`);
            assert.deepEqual([error.name, error.message, error.code], [name, message, code]);
        }
    }
    await close();
});

test('a payload that cannot be read fails its job, and holds up no other', async () => {
    const {
        tabs: [a],
        origin,
        close,
    } = await tabs(1);
    const queue = a.queue('q', { attempts: 1 });
    const bad = await queue.enqueue('spoilt');
    await queue.enqueue('good');
    const keys = await origin.records('default', 'jobs', (jobs) => jobs.getAllKeys());
    for (const key of keys) {
        const row = await origin.records('default', 'jobs', (jobs) => jobs.get(key));
        if (!String(row).endsWith('"spoilt"')) continue;
        await origin.records('default', 'jobs', (jobs) => jobs.put(row.slice(0, -1), key));
    }
    assert.deepEqual(
        (await queue.jobs()).map(({ payload }) => payload),
        [undefined, 'good'],
    );
    /** @type {any[]} */
    const done = [];
    queue.handle(({ payload }) => void done.push(payload));
    await assert.rejects(bad.result, { name: 'SyntaxError' });
    await queue.onIdle();
    assert.deepEqual(done, ['good']);
    assert.deepEqual(
        (await queue.deadLetters()).map(({ payload }) => payload),
        [undefined],
    );
    await close();
});

test('a thrown value or a payload whose properties throw holds up no other job', async () => {
    const {
        tabs: [a],
        close,
    } = await tabs(1);
    const queue = a.queue('q', { attempts: 1 });
    const hostile = {
        get message() {
            throw new Error('hostile');
        },
    };
    await assert.rejects(queue.enqueue(hostile), failsWith('not-cloneable'));
    const thrown = [
        hostile,
        Object.create(null),
        Object.assign(new Error(), { message: Object.create(null) }),
    ];
    queue.handle(({ payload }) => {
        if (payload in thrown) throw thrown[payload];
    });
    for (const index of [0, 1, 2, 3]) {
        const { result } = await queue.enqueue(index);
        if (index < 3) await assert.rejects(result, Error);
        else await result;
    }
    assert.equal((await queue.deadLetters()).length, 3);
    assert.deepEqual(await Promise.all([queue.pause(), queue.resume(), queue.onIdle()]), [
        undefined,
        undefined,
        undefined,
    ]);
    await close();
});

test('a dead letter that a full queue refuses stays, and a joined job keeps its kind and the stricter delivery', async () => {
    const {
        tabs: [a],
        close,
    } = await tabs(1);
    const dying = a.queue('dying', { attempts: 1, limit: 1 });
    const stop = dying.handle(() => Promise.reject(new Error('x')));
    await (await dying.enqueue('precious')).result.catch(() => {});
    stop();
    await dying.enqueue('instead of it');
    const [letter] = await dying.deadLetters();
    await assert.rejects(async () => letter?.retry(), failsWith('queue-full'));
    assert.equal((await dying.deadLetters()).length, 1);

    const many = a.queue('many', { attempts: 1 });
    const stopped = many.handle('dead', () => Promise.reject(new Error('x')));
    await (await many.enqueue('precious', { kind: 'dead' })).result.catch(() => {});
    stopped();
    await Promise.all(
        Array.from({ length: 64 }, (_, at) => many.enqueue(at, { kind: `k${at}`, key: `${at}` })),
    );
    const [lost] = await many.deadLetters();
    await assert.rejects(async () => lost?.retry(), failsWith('unavailable'));
    assert.equal((await many.deadLetters()).length, 1);
    await assert.rejects(
        many.enqueue('for another handler', { kind: 'new', key: '0' }),
        failsWith('unavailable'),
    );
    const kept = (await many.jobs()).find(({ key }) => key === '0');
    assert.deepEqual([kept?.payload, kept?.kind], [0, 'k0']);

    const joined = a.queue('joined');
    await joined.enqueue('first', { key: 'k' });
    await joined.enqueue('pay once', { key: 'k', delivery: 'at-most-once' });
    assert.deepEqual(
        (await joined.jobs()).map(({ payload, delivery }) => [payload, delivery]),
        [['pay once', 'at-most-once']],
    );
    await close();
});

test('the state is the first event, next() after the end of its job is refused, and a thrown `undefined` arrives as such', async () => {
    const {
        tabs: [a],
        close,
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
