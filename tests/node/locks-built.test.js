/** Objects that are built on locks in JavaScript: leader, serial, and the replacements of other packages. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TabacusError } from 'tabacus';
import SuperTokensLock from 'tabacus/compat/browser-tabs-lock';
import { createLeaderElection } from 'tabacus/compat/leadership';
import { LockManager } from 'tabacus/compat/locks';
import { tabs } from './open-tabs.js';

/** @param {string} name of a DOMException */
const throwsDom = (name) => (/** @type {any} */ error) =>
    error instanceof DOMException && error.name === name;

test('one tab leads at a time, in terms that rise, and the next leads when one hands over or is closed', async () => {
    const {
        tabs: [a, b, c],
        close,
        until,
    } = await tabs(3);
    /** @type {number[]} */
    const terms = [];
    const first = await a.leader('l').lead({ label: 'first' });
    assert.ok(first?.leads);
    terms.push(first.number);
    assert.equal((await b.leader('l').current())?.label, 'first');
    assert.equal(await b.leader('l').lead({ ifAvailable: true }), null);
    const second = b.leader('l').run(async (term) => {
        terms.push(term.number);
        await term.commit('state', (tx) => tx.put('state', 'leader', 'b'));
        return new Promise((_, reject) =>
            term.signal.addEventListener('abort', () => reject(term.signal.reason)),
        );
    });
    const lost = assert.rejects(
        second,
        (error) => error instanceof TabacusError && error.code === 'lock-lost',
    );
    first.handOver();
    assert.equal(first.leads, false);
    await until(() => terms.length === 2);
    const third = c.leader('l').lead();
    await b.close();
    await lost;
    const term = await third;
    terms.push(Number(term?.number));
    assert.deepEqual(
        terms,
        [...new Set(terms)].sort((one, other) => one - other),
    );
    term?.handOver();
    await close();
});

test('serial shows the last value at once, runs one mutation at a time over tabs, and takes back a failed one', async () => {
    const {
        tabs: [a, b],
        close,
        sleep,
    } = await tabs(2);
    /** @type {string[]} */
    const log = [];
    const running = new Set();
    const mutate =
        (/** @type {string} */ name, fails = false) =>
        async (/** @type {number} */ value) => {
            assert.equal(running.size, 0, 'one mutation runs at a time');
            running.add(name);
            await sleep(2);
            running.delete(name);
            log.push(`${name} ${value}`);
            if (fails) throw new Error('refused');
            return value * 10;
        };
    const mine = a.serial('s', 0);
    const theirs = b.serial('s', 0);
    /** @type {number[]} */
    const shown = [];
    const end = mine.subscribe((value) => void shown.push(value));
    const results = [
        mine.set(1, mutate('a')),
        mine.set(2, mutate('a')),
        theirs.set(9, mutate('b')),
        mine.set(3, mutate('a', true)),
    ];
    assert.equal(mine.value, 3);
    assert.equal(mine.pending, 3);
    assert.equal(theirs.value, 9);
    const ended = await Promise.allSettled(results);
    assert.deepEqual(
        ended.map(({ status }) => status),
        ['fulfilled', 'fulfilled', 'fulfilled', 'rejected'],
    );
    assert.equal(await results[0], 10);
    assert.equal(mine.value, 2);
    assert.equal(mine.pending, 0);
    assert.deepEqual(
        log.filter((line) => line.startsWith('a')),
        ['a 1', 'a 2', 'a 3'],
    );
    assert.deepEqual(shown.slice(0, 4), [0, 1, 2, 3]);
    assert.equal(shown.at(-1), 2);
    end();
    await close();
});

test('compat/browser-tabs-lock: acquireLock() returns whether it was granted in time, and releaseLock() grants to the next', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    assert.ok(new SuperTokensLock(undefined, null));
    const one = new SuperTokensLock(undefined, { tab: a });
    const other = new SuperTokensLock(undefined, { tab: b });
    assert.equal(await one.acquireLock('k', 1000), true);
    assert.equal(await other.acquireLock('k', 5), false);
    await other.releaseLock('k');
    assert.equal(
        await other.acquireLock('k', 5),
        false,
        'a release by an instance that does not hold it changes nothing',
    );
    const waits = other.acquireLock('k');
    await one.releaseLock('k');
    assert.equal(await waits, true);
    await other.releaseLock('k');
    await close();
});

test('compat/leadership: electors lead one after another, and one that died never leads', async () => {
    const {
        tabs: [a, b],
        close,
    } = await tabs(2);
    assert.equal(createLeaderElection({ name: 'none' }, null).isLeader, false);
    const one = createLeaderElection({ name: 'e' }, { tab: a });
    const other = createLeaderElection({ name: 'e' }, { tab: b });
    assert.equal(await one.hasLeader(), false);
    await one.awaitLeadership();
    assert.equal(one.isLeader, true);
    assert.equal(await other.hasLeader(), true);
    assert.equal(await other.applyOnce(), false);
    const next = other.awaitLeadership();
    await one.die();
    assert.equal(one.isLeader, false);
    assert.equal(one.isDead, true);
    await next;
    assert.equal(other.isLeader, true);
    assert.ok(Number(other.term) > Number(one.term));
    assert.equal(await one.applyOnce(), false);
    await other.die();
    await close();
});

test('compat/locks: request() behaves as in Web Locks, with the same errors in the same order', async () => {
    const {
        tabs: [a, b],
        close,
        sleep,
    } = await tabs(2);
    const one = new LockManager(a);
    const other = new LockManager(b);
    const any = /** @type {any} */ (one);
    assert.deepEqual(await one.request('n', (lock) => [lock?.name, lock?.mode]), ['n', 'exclusive']);
    assert.deepEqual(await one.request('n', { mode: 'shared' }, (lock) => lock?.mode), 'shared');
    await assert.rejects(any.request('n'), TypeError);
    await assert.rejects(any.request('n', {}), TypeError);
    await assert.rejects(
        any.request('n', { mode: 'other' }, () => {}),
        TypeError,
    );
    await assert.rejects(
        any.request('n', { signal: 1 }, () => {}),
        TypeError,
    );
    await assert.rejects(
        any.request('-n', () => {}),
        throwsDom('NotSupportedError'),
    );
    await assert.rejects(
        any.request('n', { steal: true, ifAvailable: true }, () => {}),
        throwsDom('NotSupportedError'),
    );
    await assert.rejects(
        any.request('n', { steal: true, mode: 'shared' }, () => {}),
        throwsDom('NotSupportedError'),
    );
    const aborted = AbortSignal.abort('why');
    await assert.rejects(
        any.request('n', { steal: true, signal: aborted }, () => {}),
        throwsDom('NotSupportedError'),
    );
    await assert.rejects(
        any.request('n', { signal: aborted }, () => {}),
        (error) => /** @type {unknown} */ (error) === 'why',
    );
    await assert.rejects(
        one.request('n', () => {
            throw new RangeError('mine');
        }),
        RangeError,
    );

    /** @type {(value?: unknown) => void} */
    let end = () => {};
    const holds = one.request('n', () => new Promise((resolve) => (end = resolve)));
    await sleep(20);
    assert.equal(await other.request('n', { ifAvailable: true }, (lock) => lock), null);
    const controller = new AbortController();
    const waits = other.request('n', { signal: controller.signal }, () => 'never');
    await sleep(20);
    const { held, pending } = await other.query();
    assert.deepEqual([held.length, pending.length], [1, 1]);
    controller.abort();
    await assert.rejects(waits, throwsDom('AbortError'));
    const previous = assert.rejects(holds, throwsDom('AbortError'));
    assert.equal(await other.request('n', { steal: true }, () => 'mine'), 'mine');
    await previous;
    end();
    assert.equal(await one.request('', () => 'an empty name'), 'an empty name');
    await close();
});

test('a semaphore admits at most as many callers as it has permits, over tabs, first come, first served', async () => {
    const {
        tabs: [a, b, c],
        close,
        sleep,
    } = await tabs(3);
    let inside = 0;
    let most = 0;
    let served = 0;
    const use = async () => {
        most = Math.max(most, ++inside);
        await sleep(3);
        inside--;
        served++;
    };
    await Promise.all([a, b, c, a, b, c, a].map((tab) => tab.semaphore('s', 2).run(use)));
    assert.deepEqual([most, served], [2, 7]);
    const first = await a.semaphore('s', 2).acquire();
    const second = await b.semaphore('s', 2).acquire({ label: 'second' });
    assert.equal(await c.semaphore('s', 2).acquire({ ifAvailable: true }), null);
    await assert.rejects(c.semaphore('s', 2).acquire({ timeout: 5 }), throwsDom('TimeoutError'));
    const waits = c.semaphore('s', 2).acquire();
    await b.close(); // with its permit
    assert.equal(second?.held, false);
    const third = await waits;
    assert.ok(third?.held && first?.held);
    first.release();
    third.release();
    assert.throws(() => a.semaphore('s', 0), TabacusError);
    assert.throws(() => a.semaphore('s', 65), TabacusError);
    assert.throws(() => a.semaphore('s', 3), { code: 'kind-mismatch' });
    await assert.rejects(a.semaphore('s', 2).acquire(/** @type {any} */ ({ steal: true })), TabacusError);
    await close();
});

test('a watcher of a leader is notified of each change once, whatever waits meanwhile', async () => {
    const {
        tabs: [a, b, c],
        close,
        until,
    } = await tabs(3);
    /** @type {(string | undefined)[]} */
    const received = [];
    c.leader('l').subscribe((leader) => received.push(leader?.label));
    await until(() => received.length === 1);
    const first = await a.leader('l').lead({ label: 'first' });
    await until(() => received.length === 2);
    const others = [
        b.leader('l').run(() => {}, { label: 'second' }),
        c.leader('l').run(() => {}, { label: 'third' }),
    ];
    let asked = 0;
    c.lock('leader/l').subscribe((requests) => (asked = requests.length));
    await until(() => asked === 3);
    first.handOver();
    await Promise.all(others);
    await until(() => received.at(-1) === undefined && received.length > 2);
    assert.ok(
        received.every((label, index) => index === 0 || label !== received[index - 1]),
        String(received),
    );
    await close();
});
