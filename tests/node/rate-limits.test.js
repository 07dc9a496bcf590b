/** Rate limits over tabs of one process: windows, waiting takes, and wrong clocks. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tabs } from './open-tabs.js';
import { failsWith } from './expected-errors.js';

test('a rate limit grants at most the limit in a window, over tabs, and waiting takes go on in time', async () => {
    const {
        tabs: all,
        windows: [{ performance }],
        close,
    } = await tabs(3);
    const limit = 4;
    const interval = 120;
    const began = performance.now();
    /** @type {number[]} */
    const resolved_ms = [];
    await Promise.all(
        all.map(async (tab) => {
            for (let i = 0; i < 5; i++) {
                await tab.rateLimit('r', { limit, interval }).take();
                resolved_ms.push(performance.now());
            }
        }),
    );
    assert.equal(resolved_ms.length, 15);
    // A take may resolve late, but never early, so that no two of them are compared.
    resolved_ms.forEach((when, index) => {
        const windows = Math.floor(index / limit);
        assert.ok(when - began >= windows * interval - 1, `${when - began} ms for ${windows} windows`);
    });
    await close();
});

test('tryTake() of a rate limit does not wait, and `timeout` and `signal` end the wait of take()', async () => {
    const {
        tabs: [a, b],
        close,
        sleep,
    } = await tabs(2);
    const options = { limit: 2, interval: 60_000 };
    assert.equal(await a.rateLimit('r', options).tryTake(), true);
    assert.equal(await b.rateLimit('r', options).tryTake(), true);
    assert.equal(await a.rateLimit('r', options).tryTake(), false);
    await assert.rejects(
        a.rateLimit('r', options).take({ timeout: 5 }),
        (error) => error instanceof DOMException && error.name === 'TimeoutError',
    );
    const controller = new AbortController();
    const waiting = b.rateLimit('r', options).take({ signal: controller.signal });
    controller.abort(new Error('enough'));
    await assert.rejects(waiting, /enough/);
    const closing = assert.rejects(b.rateLimit('r', options).take(), failsWith('closed'));
    await sleep(10);
    await close();
    await closing;
});

test('a take below the rate limit is granted, however short its timeout, unless it is aborted before', async () => {
    // A timer below 1 ms fires before the store answers.
    const soon = (/** @type {any} */ { setTimeout }) => ({
        setTimeout: (/** @type {() => void} */ done, /** @type {number} */ ms) =>
            ms < 1 ? void Promise.resolve().then(done) : setTimeout(done, ms),
    });
    const {
        tabs: [a, b],
        close,
    } = await tabs(2, soon);
    const options = { limit: 6, interval: 60_000 };
    const timedOut = (/** @type {any} */ error) =>
        error instanceof DOMException && error.name === 'TimeoutError';
    for (const tab of [a, b]) {
        for (const timeout of [0, 0.001, 0]) await tab.rateLimit('r', options).take({ timeout });
        await assert.rejects(
            tab.rateLimit('r', options).take({ timeout: 0, signal: AbortSignal.abort('first') }),
            (why) => String(why) === 'first',
        );
    }
    for (const timeout of [0, 0.001])
        await assert.rejects(b.rateLimit('r', options).take({ timeout }), timedOut);
    const controller = new AbortController();
    const late = a.rateLimit('r', options).take({ timeout: 0, signal: controller.signal });
    await Promise.resolve();
    controller.abort('late');
    await assert.rejects(late, (why) => String(why) === 'late');
    await close();
    await assert.rejects(a.rateLimit('r', options).take({ timeout: 0 }), failsWith('closed'));
});

test('a clock that is a year ahead or behind lets no call of a rate limit through early', async () => {
    const year_ms = 365 * 24 * 3_600_000;
    const {
        tabs: [a],
        another,
        close,
    } = await tabs(1);
    const ahead =
        (/** @type {number} */ ms) =>
        (/** @type {any} */ { Date }) => ({ Date: { now: () => Date.now() + ms } });
    const options = { limit: 2, interval: 60_000 };
    await a.rateLimit('r', options).take();
    await a.rateLimit('r', options).take();
    for (const offset_ms of [year_ms, -year_ms]) {
        const b = await another(ahead(offset_ms));
        assert.equal(await b.rateLimit('r', options).tryTake(), false);
        await b.close();
    }
    await close();
    const late = await another(ahead(-year_ms));
    assert.equal(await late.rateLimit('r', options).tryTake(), false);
    await late.close();
});
