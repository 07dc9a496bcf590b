/** Locks that their holder loses: by a steal, after `maxHold`, and when its page is left or its tab is closed. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { details, firePage } from './page-waits.js';
import { tabs } from './open-tabs.js';
import { failsWith } from './expected-errors.js';

test('a previous holder is notified of a steal, its run() rejects, and its commits are refused', async () => {
    const {
        tabs: [a, b],
        close,
        until,
    } = await tabs(2);
    /** @type {any} */
    let previous;
    const rejected = assert.rejects(
        a.lock('l').run(async (held) => {
            previous = held;
            await new Promise(() => {});
        }),
        failsWith('lock-lost'),
    );
    await until(() => previous);
    const stealer = await b.lock('l').acquire({ steal: true });
    await rejected;
    assert.equal(previous.signal.aborted, true);
    assert.throws(() => previous.assertHeld(), failsWith('lock-lost'));
    await assert.rejects(
        previous.commit('s', () => {}),
        failsWith('lock-lost'),
    );
    assert.ok(Number(stealer?.token) > previous.token);
    await stealer?.commit('s', (tx) => tx.put('s', 'k', { deep: [1, null] }));
    await close();
});

test('a holder that blocks its thread for longer than maxHold has lost the lock', async () => {
    const {
        tabs: [a],
        windows: [{ performance }],
        close,
    } = await tabs(1);
    const warnings = details(a, 'warning');
    const stall = () => {
        const end_ms = performance.now() + 30;
        while (performance.now() < end_ms);
    };
    const lost = failsWith('lock-lost');
    const lock = a.lock('l');
    await assert.rejects(lock.run(stall, { maxHold: 20 }), lost);
    await assert.rejects(
        lock.run(async () => stall(), { maxHold: 20 }),
        lost,
    );
    await assert.rejects(
        a.lockAll(['l', 'm'], async () => stall(), { maxHold: 20 }),
        lost,
    );
    await assert.rejects(a.once('o', stall, { maxHold: 20 }), lost);
    const outer = await lock.acquire({ maxHold: 20 });
    const inner = await lock.acquire({ within: outer, maxHold: 60_000 });
    stall();
    for (const held of [outer, inner]) {
        assert.throws(() => held.assertHeld(), lost);
        assert.equal(held.held, false);
        assert.equal(held.signal.aborted, true);
        held.release();
    }
    assert.equal(await lock.run(() => (stall(), 'no limit')), 'no limit');
    // A released lock, or one of another kind, is not re-entered, and its maxHold does not apply.
    await a
        .semaphore('l', 1)
        .run((permit) => (stall(), permit.assertHeld()), { within: outer, maxHold: 60_000 });
    await lock.run((held) => (stall(), held.assertHeld()), { within: outer, maxHold: 60_000 });
    assert.ok(warnings.some(({ code }) => code === 'max-hold'));
    await close();
});

test('a forgotten hold ends after maxHold, with a warning', async () => {
    const {
        tabs: [a, b],
        close,
        until,
    } = await tabs(2);
    const warnings = details(a, 'warning');
    const forgotten = await a.lock('l').acquire({ maxHold: 20, label: 'forgotten' });
    await b.lock('l').run(() => {});
    assert.equal(forgotten?.signal.aborted, true);
    await until(() => warnings.length > 0);
    assert.equal(warnings[0].code, 'max-hold');
    await close();
});

test('pagehide notifies the holder and releases its lock, and after pageshow the tab locks again', async () => {
    const {
        tabs: [a, b],
        windows,
        close,
        until,
        origin,
    } = await tabs(2);
    const held = await a.lock('l').acquire();
    firePage(windows[0], 'pagehide');
    assert.equal(held?.signal.aborted, true);
    await until(async () => (await origin.heldLocks()).length === 0);
    await b.lock('l').run(() => {});
    firePage(windows[0], 'pageshow');
    assert.equal(await a.lock('l').run(() => 1), 1);
    await close();
});

test('closing a tab rejects its waiting requests, releases its locks, and leaves no native lock', async () => {
    const {
        tabs: [a, b],
        close,
        until,
        sleep,
        origin,
    } = await tabs(2);
    const held = await a.lock('l').acquire();
    const waiting = b.lock('l').run(() => {});
    await sleep(1);
    await Promise.all([assert.rejects(waiting, failsWith('closed')), b.close()]);
    await a.close();
    assert.equal(held?.held, false);
    await assert.rejects(
        a.lock('l').run(() => {}),
        failsWith('closed'),
    );
    await until(async () => (await origin.heldLocks()).length + (await origin.waitingLocks()) === 0);
    await close();
});
