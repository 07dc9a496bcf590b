/** Jobs and calls of a queue whose page is frozen, left or closed. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firePage } from './page-waits.js';
import { tabs } from './open-tabs.js';
import { failsWith } from './expected-errors.js';

test('a tab that is being frozen begins no transaction when its job is done, but does so when it resumes', async () => {
    const {
        origin,
        windows: [window],
        tabs: [a, b],
        close,
        until,
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

test('a page that is left aborts the signal of its job and gives the job back, and another tab runs it', async () => {
    const {
        tabs: [a, b],
        windows: [window],
        close,
        until,
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
    firePage(window, 'pagehide');
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
        until,
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
    firePage(window, 'pagehide');
    await assert.rejects(receipt.result, failsWith('lost-worker'));
    assert.equal(runs, 1);
    assert.equal((await queue.deadLetters()).length, 1);
    await close();
});
